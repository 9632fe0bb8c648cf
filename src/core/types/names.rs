//! Enums whose values have names.

/// Declares enums from tables of their values and names.
///
/// Each has the list of all values and of their names, the name of each, and the way back from a name.
///
/// ```
/// fileshed_types::names! {
///     /// A colour.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     pub enum Colour {
///         /// As the sky.
///         Blue = "blue",
///     }
/// }
///
/// assert_eq!((Colour::Blue.as_str(), Colour::parse("blue")), ("blue", Some(Colour::Blue)));
/// assert_eq!((Colour::parse("red"), Colour::ALL), (None, [Colour::Blue].as_slice()));
/// assert_eq!(Colour::NAMES, ["blue"]);
/// ```
#[macro_export]
macro_rules! names {
    ($(
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal,)+ }
    )+) => {$(
        $(#[$meta])*
        $vis enum $Name {
            $($(#[$doc])* $Variant,)+
        }

        impl $Name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            /// The name of each, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }

            /// Returns the value that has this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == name)
            }
        }
    )+};
}
