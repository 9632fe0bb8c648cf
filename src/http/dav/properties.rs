//! Properties that programs keep with files, between the library and the core.

use axum::http::StatusCode;
use dav_server::fs::DavProp;
use fileshed_core::registry::{DeadProperty, PropertyChange};

/// What the library asks to change, as the core does it.
pub(super) fn change((set, property): &(bool, DavProp)) -> PropertyChange {
    let namespace = property.namespace.clone().unwrap_or_default();
    let name = property.name.clone();
    match (&property.xml, set) {
        (Some(xml), true) => PropertyChange::Set(DeadProperty {
            namespace,
            name,
            xml: xml.clone(),
        }),
        _ => PropertyChange::Remove(namespace, name),
    }
}

/// What became of a change.
pub(super) fn outcome(property: DavProp, done: bool) -> (StatusCode, DavProp) {
    let status = if done {
        StatusCode::OK
    } else {
        StatusCode::INSUFFICIENT_STORAGE
    };
    (
        status,
        DavProp {
            xml: None,
            ..property
        },
    )
}

/// A property that is kept, as the library shows it.
pub(super) fn shown(property: DeadProperty, with_content: bool) -> DavProp {
    DavProp {
        name: property.name,
        prefix: None,
        namespace: Some(property.namespace).filter(|namespace| !namespace.is_empty()),
        xml: with_content.then_some(property.xml),
    }
}
