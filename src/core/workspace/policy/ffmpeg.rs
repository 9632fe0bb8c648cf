//! ffmpeg and ffprobe: options with one value, inputs behind `-i`, outputs as operands.
//!
//! An input is a file of the zone, or with network an address: every other protocol is off, and so
//! are the formats that name further inputs of their own. What an address gives may name further
//! addresses, but no files.

use super::NetworkMode;
use super::error::CommandError;
use super::judge::Judge;
use super::role::Role;
use super::rule::CommandRule;
use super::text;

/// Protocols of an input that is a file.
const OF_FILES: &str = "file,pipe,crypto,data";

/// Protocols of an input that is an address.
const OF_ADDRESSES: &str = "http,https,tcp,tls,httpproxy,crypto,data";

/// Options without a value.
const SWITCHES: &str = "y n an vn sn dn hide_banner nostdin stats nostats shortest copyts \
    start_at_zero bitexact re autorotate noautorotate accurate_seek noaccurate_seek \
    ignore_unknown xerror benchmark version buildconf formats muxers demuxers devices codecs \
    decoders encoders bsfs protocols filters pix_fmts layouts sample_fmts colors L \
    copy_unknown psnr find_stream_info show_format show_streams show_packets show_frames \
    show_chapters show_programs show_error show_program_version show_library_versions \
    show_versions show_pixel_formats count_frames count_packets pretty unit prefix \
    byte_binary_prefix sexagesimal show_private_data help h";
/// Options that read or write other files, or reach further.
const REFUSED: &[(&str, &str)] = &[
    ("protocol_whitelist", "the server sets it"),
    ("protocol_blacklist", "the server sets it"),
    ("report", "it writes a log; messages come back in stderr"),
    (
        "progress",
        "it writes to an address; messages come back in stderr",
    ),
    ("dump_attachment", "it writes other files"),
    ("attach", "it reads other files"),
    ("filter_script", "write the filter as an argument"),
    ("filter_complex_script", "write the filter as an argument"),
    (
        "passlogfile",
        "it writes other files; encode in one pass with -crf",
    ),
    (
        "pass",
        "it writes other files; encode in one pass with -crf",
    ),
    ("vstats_file", "it writes other files"),
    ("vstats", "it writes other files"),
    ("sdp_file", "it writes other files"),
    ("init_hw_device", "there is no graphics device"),
    ("show_data", "use hexdump to look at bytes"),
    (
        "safe",
        "it belongs to the concat demuxer, which is not available",
    ),
    ("listen", "commands offer no service"),
    ("http_proxy", "the way to the network is the server's"),
    ("method", "an address is only read"),
    ("post_data", "an address is only read"),
    ("chunked_post", "an address is only read"),
    ("send_expect_100", "an address is only read"),
    ("headers", "an address is only read"),
    ("cookies", "an address is only read"),
    ("cert_file", "it reads other files"),
    ("key_file", "it reads other files"),
    ("ca_file", "it reads other files"),
    ("cafile", "it reads other files"),
];
/// Formats that name other inputs or outputs.
const FORMATS: &str = "lavfi concat tee data hls segment stream_segment dash sdp rtp rtsp \
    rtp_mpegts ffmetadata fifo alsa pulse v4l2 x11grab fbdev kmsgrab libcdio avfoundation \
    image2pipe sap smoothstreaming";

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|name| name == word)
}

/// Judges the arguments of ffmpeg.
pub(super) fn ffmpeg(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    read(args, judge, Role::Write)
}

/// Judges the arguments of ffprobe, whose operand is an input.
pub(super) fn ffprobe(
    _: &'static CommandRule,
    args: &[String],
    judge: &mut Judge<'_>,
) -> Result<(), CommandError> {
    read(args, judge, Role::Read)
}

fn read(args: &[String], judge: &mut Judge<'_>, operand: Role) -> Result<(), CommandError> {
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
            match operand {
                Role::Read => input(word, None, judge)?,
                _ => file(operand, word, judge)?,
            }
            continue;
        };
        let option = option.trim_start_matches('-');
        let name = option.split(':').next().unwrap_or(option);
        let refused = REFUSED
            .iter()
            .find(|(refused, _)| *refused == name || option.strip_prefix('/') == Some(refused));
        if let Some((_, reason)) = refused {
            return Err(judge.refuse(word, *reason));
        }
        if name.starts_with('/') {
            return Err(judge.refuse(word, "an option is not read from a file"));
        }
        if name == "i" {
            match words.next() {
                Some(named) => input(named, Some(word), judge)?,
                None => judge.switch(word)?,
            }
            continue;
        }
        judge.switch(word)?;
        if among(SWITCHES, name) {
            continue;
        }
        let Some(value) = words.next() else { continue };
        if name == "f" && among(FORMATS, value) {
            return Err(judge.refuse_with(
                value,
                "this format names inputs or outputs of its own",
                "give the inputs with -i; to join files use -filter_complex \
                    \"concat=n=2:v=1:a=1\" with one -i for each"
                    .to_owned(),
            ));
        }
        judge.operand(Role::Word, value)?;
    }
    Ok(())
}

/// An input behind `option`, with the protocols that it may use.
fn input(word: &str, option: Option<&str>, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    let scheme = text::scheme(word).map(str::to_ascii_lowercase);
    let online = matches!(scheme.as_deref(), Some("http" | "https"))
        && judge.rules.network != NetworkMode::Disabled;
    judge.fixed("-protocol_whitelist");
    judge.fixed(if online { OF_ADDRESSES } else { OF_FILES });
    option.map_or(Ok(()), |option| judge.switch(option))?;
    if !online {
        return file(Role::Read, word, judge);
    }
    judge.network = true;
    judge.operand(Role::Url, word)
}

fn file(role: Role, word: &str, judge: &mut Judge<'_>) -> Result<(), CommandError> {
    if word == "pipe:1" || word == "pipe:" {
        return judge.switch(word);
    }
    if text::scheme(word).is_none()
        && text::prefix(word).is_some_and(|prefix| prefix.len() > 1 && !prefix.contains('.'))
    {
        return Err(judge.refuse(
            word,
            "a prefix in front of a name is a protocol of ffmpeg: \
            name the file alone, `./` in front if its name has a colon or comma",
        ));
    }
    judge.operand(role, word)
}
