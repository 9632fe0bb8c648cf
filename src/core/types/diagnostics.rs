//! One declaration a failure.
//!
//! [`diagnostics!`](crate::diagnostics!) declares an error type whose every variant says in one
//! place what it is: its message, its code, what to do next, and the facts for programs. In the
//! tests of a crate the same declarations make the catalogue of what callers read.

use serde_json::Value;

use crate::Error;

pub mod catalogue;
mod sample;

pub use crate::error::Facts;
#[doc(hidden)]
pub use inventory;
pub use sample::Sample;
#[doc(hidden)]
pub use serde_json::json;

/// The facts that a declaration has in braces.
#[doc(hidden)]
#[must_use]
pub fn facts(facts: Value) -> Facts {
    match facts {
        Value::Object(facts) => facts,
        _ => Facts::new(),
    }
}

/// Makes the examples of a type: the name of each variant, and a failure of it.
#[doc(hidden)]
pub struct Examples(pub fn() -> Vec<(&'static str, Error)>);

inventory::collect!(Examples);

/// Declares an error type and its [`Diagnostic`](crate::Diagnostic).
///
/// A type is an enum or a struct as `thiserror` takes it, its tuple fields with names, and behind
/// each variant `=>` and what it is:
///
/// - `code`: the name of a [`Code`](crate::Code), or an expression that gives one;
/// - `hint`: anything that becomes a [`Hint`](crate::Hint); it may use the fields, as references;
/// - `details`, if there are any: an object as `serde_json::json!` takes it, or an expression that
///   gives a map;
/// - `retry_after`, if it passes: seconds, or an `Option` of them;
/// - or nothing but `same_as`, where another failure with all that it says is passed on.
///
/// Examples for the catalogue are made of [`Sample`]s; `= value` or `=> [value, value]` behind the
/// type of a field gives better ones, which no program holds.
///
/// ```
/// use fileshed_types::{Call, Code, Diagnostic, diagnostics};
///
/// diagnostics! {
///     /// A note that cannot be read.
///     #[derive(Debug, thiserror::Error)]
///     pub enum NoteError {
///         /// No note has the name.
///         #[error("there is no note `{name}`")]
///         Unknown {
///             /// What was sent.
///             name: String => ["todo".into(), "../todo".into()],
///         } => {
///             code: if name.contains("..") { Code::PathEscape } else { Code::FileNotFound },
///             hint: Call::here("shed_tree"),
///             details: { "name": name },
///         },
///         /// The disk failed.
///         #[error("the note could not be read")]
///         Io(#[source] source: std::io::Error) => {
///             code: InternalApiError,
///             hint: "repeat the call",
///         },
///         /// Another call writes it.
///         #[error(transparent)]
///         Busy(#[from] error: BusyError) => { same_as: error },
///     }
/// }
///
/// diagnostics! {
///     /// Notes are being written.
///     #[derive(Debug, thiserror::Error)]
///     #[error("{count} notes are being written")]
///     pub struct BusyError { count: u64 } => {
///         code: Busy,
///         hint: format!("wait for {count} of them"),
///         details: { "count": count },
///         retry_after: count * 2,
///     }
/// }
///
/// let unknown = NoteError::Unknown { name: "list".into() };
/// assert_eq!((unknown.code(), unknown.retry_after()), (Code::FileNotFound, None));
/// assert_eq!(unknown.details()["name"], "list");
/// assert_eq!(unknown.hint().to_string(), "shed_tree()");
/// let busy = NoteError::from(BusyError { count: 3 });
/// assert_eq!((busy.code(), busy.retry_after()), (Code::Busy, Some(6)));
/// assert_eq!((busy.to_string(), busy.details().len()), ("3 notes are being written".into(), 1));
/// ```
#[macro_export]
macro_rules! diagnostics {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident { $(
            $(#[$variant_meta:meta])*
            $Variant:ident
            $({ $(
                $(#[$field_meta:meta])*
                $field:ident: $type:ty $(= $example:expr)? $(=> [$($examples:expr),+ $(,)?])?
            ),+ $(,)? })?
            $(( $(
                $(#[$part_meta:meta])*
                $part:ident: $part_type:ty
                $(= $part_example:expr)? $(=> [$($part_examples:expr),+ $(,)?])?
            ),+ $(,)? ))?
            => $facts:tt
        ),+ $(,)? }
    ) => {
        $(#[$meta])*
        $vis enum $Name { $(
            $(#[$variant_meta])*
            $Variant
            $({ $( $(#[$field_meta])* $field: $type ),+ })?
            $(( $( $(#[$part_meta])* $part_type ),+ ))?
        ),+ }

        $crate::diagnostics! { @implement $Name { $(
            { Self::$Variant $({ $($field),+ })? $(( $($part),+ ))? }
            { $( $($field)+ )? $( $($part)+ )? }
            $facts
        )+ } }

        $crate::diagnostics! { @catalogue $(
            {
                $facts concat!(stringify!($Name), "::", stringify!($Variant)),
                [
                    $($( $crate::diagnostics!(
                        @samples $field $type $(= $example)? $(=> [$($examples),+])?
                    ) ),+)?
                    $($( $crate::diagnostics!(
                        @samples $part $part_type
                        $(= $part_example)? $(=> [$($part_examples),+])?
                    ) ),+)?
                ],
                |round| $Name::$Variant
                    $({ $( $field: $crate::diagnostics::catalogue::pick(
                        $crate::diagnostics!(
                            @samples $field $type $(= $example)? $(=> [$($examples),+])?
                        ),
                        round,
                    ) ),+ })?
                    $(( $( $crate::diagnostics::catalogue::pick(
                        $crate::diagnostics!(
                            @samples $part $part_type
                            $(= $part_example)? $(=> [$($part_examples),+])?
                        ),
                        round,
                    ) ),+ ))?
            }
        )+ }
    };

    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident => $facts:tt
    ) => {
        $(#[$meta])*
        $vis struct $Name;

        $crate::diagnostics! { @implement $Name { { Self } {} $facts } }

        $crate::diagnostics! { @catalogue { $facts stringify!($Name), [], |round| $Name } }
    };

    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $type:ty
                $(= $example:expr)? $(=> [$($examples:expr),+ $(,)?])?
            ),+ $(,)?
        } => $facts:tt
    ) => {
        $(#[$meta])*
        $vis struct $Name { $( $(#[$field_meta])* $field_vis $field: $type ),+ }

        $crate::diagnostics! {
            @implement $Name { { Self { $($field),+ } } { $($field)+ } $facts }
        }

        $crate::diagnostics! { @catalogue {
            $facts stringify!($Name),
            [$( $crate::diagnostics!(
                @samples $field $type $(= $example)? $(=> [$($examples),+])?
            ) ),+],
            |round| $Name { $( $field: $crate::diagnostics::catalogue::pick(
                $crate::diagnostics!(
                    @samples $field $type $(= $example)? $(=> [$($examples),+])?
                ),
                round,
            ) ),+ }
        } }
    };

    (@implement $Name:ident { $( { $pattern:pat } { $($used:ident)* } $facts:tt )+ }) => {
        impl $crate::Diagnostic for $Name {
            fn code(&self) -> $crate::Code {
                match self { $( $pattern => {
                    $( let _ = $used; )*
                    $crate::diagnostics!(@code $facts)
                } )+ }
            }

            fn hint(&self) -> $crate::Hint {
                match self { $( $pattern => {
                    $( let _ = $used; )*
                    $crate::diagnostics!(@hint $facts)
                } )+ }
            }

            fn details(&self) -> $crate::diagnostics::Facts {
                match self { $( $pattern => {
                    $( let _ = $used; )*
                    $crate::diagnostics!(@details $facts)
                } )+ }
            }

            fn retry_after(&self) -> Option<u64> {
                match self { $( $pattern => {
                    $( let _ = $used; )*
                    $crate::diagnostics!(@retry_after $facts)
                } )+ }
            }
        }
    };

    (@code { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::code($error) };
    (@code { code: $Code:ident, $($rest:tt)+ }) => { $crate::Code::$Code };
    (@code { code: $code:expr, $($rest:tt)+ }) => { $code };

    (@hint { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::hint($error) };
    (@hint { code: $code:expr, hint: $hint:expr $(, $($rest:tt)*)? }) => {
        $crate::Hint::from($hint)
    };

    (@details { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::details($error) };
    (@details {
        code: $code:expr, hint: $hint:expr, details: { $($details:tt)+ } $(, $($rest:tt)*)?
    }) => {
        $crate::diagnostics::facts($crate::diagnostics::json!({ $($details)+ }))
    };
    (@details {
        code: $code:expr, hint: $hint:expr, details: $details:expr $(, $($rest:tt)*)?
    }) => { $details };
    (@details {
        code: $code:expr, hint: $hint:expr $(, retry_after: $seconds:expr)? $(,)?
    }) => { $crate::diagnostics::Facts::new() };

    (@retry_after { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::retry_after($error) };
    (@retry_after {
        code: $code:expr, hint: $hint:expr $(, details: { $($details:tt)+ })? $(,)?
    }) => { None };
    (@retry_after {
        code: $code:expr, hint: $hint:expr $(, details: { $($details:tt)+ })?,
        retry_after: $seconds:expr $(,)?
    }) => { Option::<u64>::from($seconds) };
    (@retry_after {
        code: $code:expr, hint: $hint:expr, details: $details:expr $(,)?
    }) => { None };
    (@retry_after {
        code: $code:expr, hint: $hint:expr, details: $details:expr,
        retry_after: $seconds:expr $(,)?
    }) => { Option::<u64>::from($seconds) };

    (@catalogue $(
        { $facts:tt $name:expr, [$($samples:expr),* $(,)?], |$round:ident| $made:expr }
    )+) => {
        #[cfg(test)]
        const _: () = {
            fn examples() -> Vec<(&'static str, $crate::Error)> {
                let mut examples = Vec::new();
                $( $crate::diagnostics! {
                    @examples examples $facts $name, [$($samples),*], |$round| $made
                } )+
                examples
            }
            $crate::diagnostics::inventory::submit! { $crate::diagnostics::Examples(examples) }
        };
    };

    (@examples $examples:ident { same_as: $($rest:tt)+ } $($example:tt)+) => {
        let _ = &mut $examples;
    };
    (@examples
        $examples:ident $facts:tt $name:expr, [$($samples:expr),*], |$round:ident| $made:expr
    ) => {
        let rounds = [1 $(, $samples.len())*].into_iter().max().unwrap_or(1);
        for $round in 0..rounds {
            let _ = $round;
            $examples.push(($name, $crate::Error::from($made)));
        }
    };

    (@samples $field:ident $type:ty) => {
        <$type as $crate::diagnostics::Sample>::samples(stringify!($field))
    };
    (@samples $field:ident $type:ty = $example:expr) => {
        vec![$crate::diagnostics::catalogue::sample::<$type>($example)]
    };
    (@samples $field:ident $type:ty => [$($example:expr),+]) => {
        vec![$( $crate::diagnostics::catalogue::sample::<$type>($example) ),+]
    };
}

#[cfg(test)]
mod tests;
