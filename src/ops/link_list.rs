//! `shed_link_list`: the caller's links, and what they lead to now.

use fileshed_core::link::{Link, Purpose};
use fileshed_core::publication::PublishedFile;
use fileshed_core::storage::{Entry, Kind};
use jiff::Timestamp;

use super::markdown;
use super::prelude::*;
use crate::content_type;

/// `shed_link_list`
pub struct LinkList;

/// One link.
#[derive(Serialize, ToSchema)]
pub struct ListedLink {
    /// Id for `shed_link_delete`.
    file_id: String,
    /// Name of the file or directory.
    filename: String,
    /// Address of the link.
    download_url: String,
    /// The link in Markdown.
    clickable_link: String,
    /// When the link was made.
    created_at: String,
    /// When the link ends; absent where it does not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Bytes of the file as it is now; absent if it no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// Media type by the name of the file.
    content_type: &'static str,
    /// Zone of the file.
    source_zone: &'static str,
    /// Id of the group, if the zone is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_group: Option<String>,
    /// Path of the file or directory.
    source_path: String,
    /// `true` if files are sent to the link, not taken from it.
    upload: bool,
    /// `true` if it opens with a password only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    password: bool,
    /// Number of downloads after which the link ends; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    downloads_max: Option<u64>,
    /// Downloads that are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    downloads_left: Option<u64>,
}

/// All links.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// The links, oldest first.
    files: Vec<ListedLink>,
    /// Number of links.
    count: usize,
}

impl Operation for LinkList {
    const ID: &str = "shed_link_list";
    const SUMMARY: &str = "List links";
    const DOC: &str = "List your download and upload links that still work, with file_id.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Table(
            "files",
            &[
                "file_id",
                "source_zone",
                "source_path",
                "brings",
                "expires_at",
            ],
        ),
        Keep::Always("count"),
    ];
    type Request = NoParameters;
    type Response = Response;

    fn shorten(data: &mut Map<String, Value>) {
        let Some(Value::Array(files)) = data.get_mut("files") else {
            return;
        };
        for file in files.iter_mut().filter_map(Value::as_object_mut) {
            let brings = file.get("upload").filter(|upload| **upload == true);
            let brings = brings.cloned().unwrap_or_default();
            file.insert("brings".to_owned(), brings);
            if let Some(Value::String(moment)) = file.get_mut("expires_at") {
                // The day is enough.
                moment.truncate(10);
            }
        }
    }

    fn run(core: &Core, caller: &Caller, _: NoParameters) -> Result<Reply<Response>, Error> {
        let links = core.transfer.links(caller)?.into_iter();
        let links = links.map(|link| (link.created_at, listed(core, link)));
        let published = core.transfer.publications(caller)?.into_iter();
        let published = published.map(|file| (file.created_at, listed_in_openwebui(file)));
        let mut both: Vec<(Timestamp, ListedLink)> = links.chain(published).collect();
        both.sort_by_key(|(created_at, _)| *created_at);
        let files: Vec<ListedLink> = both.into_iter().map(|(_, listed)| listed).collect();
        let count = files.len();
        Ok(Reply::new(
            Response { files, count },
            format!("{count} links"),
        ))
    }
}

fn listed(core: &Core, link: Link) -> ListedLink {
    let upload = link.purpose == Purpose::Upload;
    let entry = link.entry(&core.store).ok();
    let filename = link.name(entry.as_ref().map(Entry::kind));
    let file = entry.filter(|entry| entry.kind() == Kind::File);
    let content_type = if upload {
        "inode/directory"
    } else {
        content_type::by_name(&filename).unwrap_or(content_type::BYTES)
    };
    let is_picture = file.is_some() && content_type::is_picture(content_type) && !link.is_guarded();
    ListedLink {
        clickable_link: markdown::link(link.purpose, &link.url, &filename, is_picture),
        created_at: link.created_at.to_string(),
        expires_at: Some(link.expires_at.to_string()),
        size_bytes: file.map(|file| file.size()),
        content_type,
        filename,
        source_zone: link.zone.as_str(),
        source_group: link.group.clone(),
        source_path: link.path.display().to_owned(),
        upload,
        password: link.has_password(),
        downloads_max: link.downloads_max,
        downloads_left: link.downloads_left(),
        file_id: link.id,
        download_url: link.url,
    }
}

fn listed_in_openwebui(file: PublishedFile) -> ListedLink {
    ListedLink {
        clickable_link: markdown::link(Purpose::Download, &file.url, &file.name, false),
        created_at: file.created_at.to_string(),
        expires_at: None,
        size_bytes: Some(file.size),
        content_type: content_type::by_name(&file.name).unwrap_or(content_type::BYTES),
        filename: file.name,
        source_zone: file.zone.as_str(),
        source_group: file.group,
        source_path: file.path.display().to_owned(),
        upload: false,
        password: false,
        downloads_max: None,
        downloads_left: None,
        file_id: file.id,
        download_url: file.url,
    }
}
