//! Small pictures of large ones. A confined process alone reads what somebody made, within its memory and
//! time, and gives a picture that is made anew.

use std::fs::File;
use std::io::{BufReader, Cursor, Read as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};
use serde::{Deserialize, Serialize};

use crate::process::{JobEnd, prepare_copy_job, run_copy_job};
use crate::runs::Runs;
use fileshed_sandbox::BuiltInJob;
use fileshed_storage::Entry;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::timings::seconds;
use fileshed_types::{Error, diagnostics};
use fileshed_zones::zone::Zone;

/// The largest picture that is read, in bytes.
const LARGEST: u64 = 32 * MEBIBYTE;

/// Width and height that a picture may have.
const WIDEST: u32 = 16_384;

/// Bytes of its points.
const POINTS: u64 = 256 * MEBIBYTE;

/// Width and height of the small one, at most.
const SIDE: u32 = 256;

/// Bytes of the small one.
const SMALL: usize = 512 * 1024;

/// Of the JPEG, in percent.
const QUALITY: u8 = 80;

/// Seconds that it may take.
const TIME: u64 = 10;

/// A small picture.
#[derive(Debug, Serialize, Deserialize)]
pub struct Thumbnail {
    /// `image/jpeg`, or `image/png` where something can be seen through.
    pub kind: String,
    /// Its bytes, in base 64.
    content: String,
}

impl Thumbnail {
    /// The picture itself.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.content).unwrap_or_default()
    }
}

/// Makes a small picture of a JPEG, PNG, GIF or WebP.
pub fn thumbnail(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> Result<Thumbnail, Error> {
    let path = entry.path().as_str().to_owned();
    let explain = |error: ThumbnailError| zone.explain(error.into());
    let size = entry.size();
    if size > LARGEST {
        let limit = LARGEST;
        return Err(explain(ThumbnailError::TooLarge { path, size, limit }));
    }
    let content = entry.open().map_err(|error| zone.explain_disk(error))?;
    let job = (&THUMBNAIL_JOB, "thumbnail");
    let bounds = (seconds(TIME), 2 * SMALL);
    let made = match run_copy_job(runs, zone, job, &mut content.take(LARGEST), (), bounds)? {
        JobEnd::Answered(made) => made,
        JobEnd::TooLong | JobEnd::Died => Err("it exceeds the limit of memory or time".to_owned()),
    };
    made.map_err(|reason| explain(ThumbnailError::Unreadable { path, reason }))
}

/// Makes a small picture in a confined process.
pub const THUMBNAIL_JOB: BuiltInJob = BuiltInJob {
    name: "thumbnail",
    prepare: |spec| {
        prepare_copy_job(spec, |(), picture| {
            small(picture)
                .map_err(|error| -> String { error.to_string().chars().take(200).collect() })
        })
    },
};

fn small(picture: File) -> Result<Thumbnail, ImageError> {
    let mut reader = ImageReader::new(BufReader::new(picture)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(WIDEST);
    limits.max_image_height = Some(WIDEST);
    limits.max_alloc = Some(POINTS);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let whole = DynamicImage::from_decoder(decoder)?;
    let mut made = if whole.width().max(whole.height()) > SIDE {
        whole.thumbnail(SIDE, SIDE)
    } else {
        whole
    };
    made.apply_orientation(orientation);
    let mut content = Cursor::new(Vec::new());
    let kind = if made.color().has_alpha() {
        let points = DynamicImage::from(made.into_rgba8());
        points.write_to(&mut content, ImageFormat::Png)?;
        "image/png"
    } else {
        made.into_rgb8()
            .write_with_encoder(JpegEncoder::new_with_quality(&mut content, QUALITY))?;
        "image/jpeg"
    };
    Ok(Thumbnail {
        kind: kind.to_owned(),
        content: STANDARD.encode(content.into_inner()),
    })
}

diagnostics! {
    /// A picture of which no small one is made.
    #[derive(Debug, thiserror::Error)]
    pub enum ThumbnailError {
        /// It is broken, too large or something else.
        #[error("no thumbnail of `{path}` can be made: {reason}")]
        Unreadable {
            /// The file.
            path: String = "photo.jpg".to_owned(),
            /// Why not.
            reason: String = "the image format could not be determined".to_owned(),
        } => {
            code: InvalidFormat,
            hint: "thumbnails are made of JPEG, PNG, GIF and WebP; GET /files/content has the file \
                itself",
            details: { "path": path },
        },
        /// It has too many bytes.
        #[error(
            "`{path}` has {}; thumbnails are made of files of at most {}",
            human_size(*size), human_size(*limit)
        )]
        TooLarge {
            /// The file.
            path: String = "photo.jpg".to_owned(),
            /// Its bytes.
            size: u64 = 99_999_999,
            /// The bytes that it may have.
            limit: u64 = LARGEST,
        } => {
            code: FileTooLarge,
            hint: "GET /files/content has the file itself",
            details: { "path": path, "size": size, "limit": limit },
        },
    }
}
