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
/// - `details`, if there are any: an object as `serde_json::json!` takes it, or a call of a function
///   that gives a map;
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

        $crate::diagnostics! { @catalogue $( {
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

        $crate::diagnostics! { @catalogue { $facts stringify!($Name); ($Name) } }
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
            $facts stringify!($Name); ($Name)
            { $( $field (@samples $field $type $(= $example)? $(=> [$($examples),+])?) ),+ }
        } }
    };

    (@implement $Name:ident $variants:tt) => {
        impl $crate::Diagnostic for $Name {
            $crate::diagnostics! { @method code -> $crate::Code, $variants }
            $crate::diagnostics! { @method hint -> $crate::Hint, $variants }
            $crate::diagnostics! { @method details -> $crate::diagnostics::Facts, $variants }
            $crate::diagnostics! { @method retry_after -> Option<u64>, $variants }
        }
    };

    (@method $method:ident -> $answer:ty,
        { $( { $pattern:pat } { $($used:ident)* } $facts:tt )+ }
    ) => {
        fn $method(&self) -> $answer {
            match self { $( $pattern => {
                $( let _ = $used; )*
                $crate::diagnostics!(@$method $facts)
            } )+ }
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
    (@details { code: $code:expr, hint: $hint:expr $(, $($rest:tt)*)? }) => {
        $crate::diagnostics::Facts::new()
    };

    (@retry_after { same_as: $error:expr $(,)? }) => { $crate::Diagnostic::retry_after($error) };
    (@retry_after {
        code: $code:expr, hint: $hint:expr
        $(, details: $details:tt $(.$method:ident)? $(($($of:tt)*))?)? $(,)?
    }) => { None };
    (@retry_after {
        code: $code:expr, hint: $hint:expr
        $(, details: $details:tt $(.$method:ident)? $(($($of:tt)*))?)?,
        retry_after: $seconds:expr $(,)?
    }) => { Option::<u64>::from($seconds) };

    (@catalogue $( { $facts:tt $($example:tt)+ } )+) => {
        #[cfg(test)]
        const _: () = {
            fn examples() -> Vec<(&'static str, $crate::Error)> {
                let mut examples = Vec::new();
                $( $crate::diagnostics! { @examples examples $facts $($example)+ } )+
                examples
            }
            $crate::diagnostics::inventory::submit! { $crate::diagnostics::Examples(examples) }
        };
    };

    (@examples $examples:ident { same_as: $($rest:tt)+ } $($example:tt)+) => {
        let _ = &mut $examples;
    };
    (@examples $examples:ident $facts:tt $name:expr; ($($made:tt)+)
        $({ $( $field:ident $samples:tt ),+ })?
        $(( $( $part:tt ),+ ))?
    ) => {
        let rounds = [
            1
            $($( , $crate::diagnostics!$samples.len() )+)?
            $($( , $crate::diagnostics!$part.len() )+)?
        ];
        for round in 0..rounds.into_iter().max().unwrap_or(1) {
            let _ = round;
            let made = $($made)+
                $({ $( $field: $crate::diagnostics::catalogue::pick(
                    $crate::diagnostics!$samples, round
                ) ),+ })?
                $(( $( $crate::diagnostics::catalogue::pick(
                    $crate::diagnostics!$part, round
                ) ),+ ))?;
            $examples.push(($name, $crate::Error::from(made)));
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
