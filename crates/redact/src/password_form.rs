//! In which form a program takes a secret.

/// The form in which a program takes a secret; `commands.txt` describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordForm {
    Next,
    Glued,
    Either,
    User,
    Percent,
    Comma,
    Slash,
    Cookie,
    Assign,
    Arg(u8),
    Last,
    Chosen,
    Quoted,
    Call,
    Stdin,
    Typed,
    Sure,
    SureUser,
    Listed,
    Printed,
}
