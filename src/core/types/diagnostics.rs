//! One declaration a failure.
//!
//! [`diagnostics!`](crate::diagnostics!) declares an error type whose every variant says in one
//! place what it is: its message, its code, what to do next, and the facts for programs. In the
//! tests of a crate the same declarations make the catalogue of what callers read.

use serde_json::Value;

#[cfg(any(test, feature = "catalogue"))]
pub mod testing;

pub use crate::error::{Diagnosis, Facts};
#[doc(hidden)]
pub use serde_json::json;

/// Returns the facts that a declaration has in braces.
#[doc(hidden)]
pub fn facts(facts: Value) -> Facts {
    match facts {
        Value::Object(facts) => facts,
        _ => Facts::new(),
    }
}

/// Declares an error type and its [`Diagnostic`](crate::Diagnostic).
///
/// A type is an enum or a struct as `thiserror` takes it, its tuple fields with names, and behind
/// each variant `=>` and what it is:
///
/// - `code`: the name of a [`Code`](crate::Code), or an expression that gives one;
/// - `hint`: anything that becomes a [`Hint`](crate::Hint); it may use the fields, as references;
/// - `details`, if there are any: an object as `serde_json::json!` takes it, or a call of a function
///   that gives a map;
/// - `retry_after`, if it passes: seconds, or an `Option` of them;
/// - or nothing but `same_as`, where another failure with all that it says is passed on.
///
/// Examples for the catalogue are made of samples by type (`testing::Sample`); `= value` or `=> [value, value]` behind the
/// type of a field gives better ones, which no program holds.
///
/// ```
/// use fileshed_types::{Code, Diagnostic, NextCall, diagnostics};
///
/// diagnostics! {
///     /// A note that cannot be read.
///     #[derive(Debug, thiserror::Error)]
///     pub enum NoteError {
///         /// No note has the name.
///         #[error("there is no note `{name}`")]
///         Unknown {
///             /// The name received.
///             name: String => ["todo".into(), "../todo".into()],
///         } => {
///             code: if name.contains("..") { Code::PathEscape } else { Code::FileNotFound },
///             hint: NextCall::here("shed_tree"),
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
/// let unknown = NoteError::Unknown { name: "list".into() }.diagnosis();
/// assert_eq!((unknown.code, unknown.retry_after), (Code::FileNotFound, None));
/// assert_eq!(unknown.details["name"], "list");
/// assert_eq!(unknown.hint.to_string(), "shed_tree()");
/// let busy = NoteError::from(BusyError { count: 3 });
/// assert_eq!(busy.to_string(), "3 notes are being written");
/// let busy = busy.diagnosis();
/// assert_eq!((busy.code, busy.retry_after, busy.details.len()), (Code::Busy, Some(6), 1));
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

        #[cfg(test)]
        $crate::diagnostic_examples! { $( {
            $facts concat!(stringify!($Name), "::", stringify!($Variant)); ($Name::$Variant)
            $({ $( $field (@samples $field $type $(= $example)? $(=> [$($examples),+])?) ),+ })?
            $(( $( (
                @samples $part $part_type $(= $part_example)? $(=> [$($part_examples),+])?
            ) ),+ ))?
        } )+ }
    };

    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident => $facts:tt
    ) => {
        $(#[$meta])*
        $vis struct $Name;

        $crate::diagnostics! { @implement $Name { { Self } {} $facts } }

        #[cfg(test)]
        $crate::diagnostic_examples! { { $facts stringify!($Name); ($Name) } }
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

        #[cfg(test)]
        $crate::diagnostic_examples! { {
            $facts stringify!($Name); ($Name)
            { $( $field (@samples $field $type $(= $example)? $(=> [$($examples),+])?) ),+ }
        } }
    };

    (@implement $Name:ident { $( { $pattern:pat } { $($used:ident)* } $facts:tt )+ }) => {
        impl $crate::Diagnostic for $Name {
            fn diagnosis(&self) -> $crate::diagnostics::Diagnosis {
                match self { $( $pattern => {
                    $( let _ = $used; )*
                    $crate::diagnostics!(@diagnosis $facts)
                } )+ }
            }
        }
    };

    (@diagnosis { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::diagnosis($error) };
    (@diagnosis { code: $Code:ident, $($rest:tt)+ }) => {
        $crate::diagnostics!(@diagnosis { code: ($crate::Code::$Code), $($rest)+ })
    };
    (@diagnosis {
        code: $code:expr, hint: $hint:expr, details: { $($details:tt)+ } $($rest:tt)*
    }) => {
        $crate::diagnostics!(@diagnosis {
            code: $code, hint: $hint,
            details: $crate::diagnostics::facts($crate::diagnostics::json!({ $($details)+ }))
            $($rest)*
        })
    };
    (@diagnosis {
        code: $code:expr, hint: $hint:expr $(, details: $details:expr)?
        $(, retry_after: $seconds:expr)? $(,)?
    }) => {
        $crate::diagnostics::Diagnosis {
            code: $code,
            hint: $crate::Hint::from($hint),
            details: $crate::diagnostics!(@details $($details)?),
            retry_after: $crate::diagnostics!(@retry_after $($seconds)?),
        }
    };
    (@details) => { $crate::diagnostics::Facts::new() };
    (@details $details:expr) => { $details };
    (@retry_after) => { None };
    (@retry_after $seconds:expr) => { Option::<u64>::from($seconds) };
}
