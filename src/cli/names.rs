//! Values that have names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A value with one of these names.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| parse(&name).ok_or("is not one of them"))
}
