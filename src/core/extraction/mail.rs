//! Mails: who wrote what to whom, the text, and the names of what is attached.

use mail_parser::{Addr, Address, MessageParser, MimeHeaders as _};

use crate::{TextBuilder, Unreadable};

/// Reads a mail.
pub(crate) fn mail(bytes: &[u8], text: &mut TextBuilder) -> Result<(), Unreadable> {
    let message = MessageParser::default().parse(bytes);
    let message = message.ok_or_else(|| Unreadable::Missing("header".to_owned()))?;
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push(&format!("{name}: {value}\n"));
        }
    };
    let people = |address: Option<&Address<'_>>| {
        let shown = |one: &Addr<'_>| match (one.name(), one.address()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (name, address) => name.or(address).unwrap_or_default().to_owned(),
        };
        let all = address.into_iter().flat_map(Address::iter).map(shown);
        all.collect::<Vec<_>>().join(", ")
    };
    line("From", &people(message.from()));
    line("To", &people(message.to()));
    line("Cc", &people(message.cc()));
    let date = message.date().map(mail_parser::DateTime::to_rfc3339);
    line("Date", &date.unwrap_or_default());
    line("Subject", message.subject().unwrap_or_default());
    for number in 0..message.text_body_count() {
        text.blank_line();
        text.push(
            &message
                .body_text(number)
                .unwrap_or_default()
                .replace('\r', ""),
        );
        text.end_line();
    }
    for part in message.attachments() {
        let name = part.attachment_name().unwrap_or("without a name");
        text.push(&format!("[attached: {name}, {} bytes]\n", part.len()));
    }
    Ok(())
}
