//! A door for fuzz targets: the text and the rows of CSV files.

use std::fs::File;
use std::io::{Error, Read as _};

use ::csv::ReaderBuilder;
use encoding_rs::DecoderResult;

use crate::csv::{CsvEncoding as Encoding, CsvSource as Source, column_names, find_delimiter};

/// The text of a file behind `skip` lines, which is read in pieces.
pub fn text(file: &mut File, skip: u64) -> Result<Vec<u8>, Error> {
    let encoding = Encoding::find(file)?;
    let mut text = Vec::new();
    Source::open(file, encoding, skip)?.read_to_end(&mut text)?;
    Ok(text)
}

/// Returns the text of a file with these bytes, decoded in one step; `None` if the bytes are not valid in its
/// encoding, or if the reader would leave characters out or use its own decoder.
pub fn decoded(file: &mut File, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut text = vec![0; bytes.len() * 3 + 64];
    let written = match Encoding::find(file)? {
        Encoding::Utf32(_) => return Ok(None),
        Encoding::FlawedUtf8 => {
            text = String::from_utf8_lossy(bytes).into_owned().into_bytes();
            text.len()
        }
        Encoding::Latin1 => encoding_rs::mem::convert_latin1_to_utf8(bytes, &mut text),
        Encoding::Known(encoding) => {
            let mut decoder = encoding.new_decoder();
            match decoder.decode_to_utf8_without_replacement(bytes, &mut text, true) {
                (DecoderResult::InputEmpty, _, written) => written,
                _ => return Ok(None),
            }
        }
    };
    text.truncate(written);
    let is_left_out = |byte: &u8| [0, 0x1a].contains(byte);
    Ok((!text.iter().any(is_left_out)).then_some(text))
}

/// The rows of a file, read through a buffer of so many bytes.
pub fn rows(file: &mut File, skip: u64, buffer: usize) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let sample = text(file, skip).map_err(|error| error.to_string())?;
    let encoding = Encoding::find(file).map_err(|error| error.to_string())?;
    let source = Source::open(file, encoding, skip).map_err(|error| error.to_string())?;
    let reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(find_delimiter(&sample, true))
        .buffer_capacity(buffer)
        .from_reader(source);
    reader
        .into_byte_records()
        .map(|record| record.map(|record| record.iter().map(<[u8]>::to_vec).collect()))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// The names of columns with this header.
pub fn names(header: &[Vec<u8>]) -> Vec<String> {
    column_names(header.iter().map(Vec::as_slice))
}
