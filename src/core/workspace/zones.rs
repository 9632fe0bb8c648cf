//! From the parameters of a call to a zone that is ready to use.

use crate::store::Store;
use crate::zone::Zone;
use crate::{Caller, Error, ZoneName};

impl Store {
    /// The caller's zone, ready to use. `zone` and `group` are the parameters of those names.
    pub fn zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.zone_of_parameter(caller, "zone", zone, group)
    }

    /// A zone of the caller, ready to use; of `group`, by id or name, where it is a group's.
    pub fn open_zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: ZoneName,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        match zone {
            ZoneName::Group => self.group_zone(caller, group),
            personal => self.personal_zone(caller, personal),
        }
    }

    /// A zone that a parameter of another name says.
    pub fn zone_of_parameter<'a>(
        &'a self,
        caller: &'a Caller,
        parameter: &'static str,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.open_zone(caller, ZoneName::parse_parameter(parameter, zone)?, group)
    }

    /// One of the caller's own zones, ready to use. Uploads have what is attached to the
    /// conversation.
    pub fn personal_zone<'a>(
        &'a self,
        caller: &'a Caller,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        if name == ZoneName::Uploads {
            self.bring_attachments(caller);
        }
        self.zone_as_it_is(caller, name)
    }
}
