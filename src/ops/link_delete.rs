//! `shed_link_delete`: a link that works no longer. What it led to stays.

use super::prelude::*;

/// `shed_link_delete`
pub struct LinkDelete;

/// The link.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// From the list of links
    file_id: String,
}

/// The link.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Id of the link that has ended.
    file_id: String,
    /// Name of the file that it led to.
    filename: String,
}

impl Operation for LinkDelete {
    const ID: &str = "shed_link_delete";
    const SUMMARY: &str = "Take a link back";
    const DOC: &str = "End a link at once; the file stays.";
    const EFFECT: Effect = Effect::REPLACES.outside();
    const ERRORS: &[&[Code]] = errors![
        ;
        MissingFileId, NotAFileshedLink, OpenwebuiApiUnavailable, OpenwebuiDeleteError
    ];
    const EXAMPLES: &[&str] = &[r#"{"file_id": "5f0e4a529f0b0e8f4f"}"#];
    const SHORT_ANSWER: &[Keep] = &[Keep::Unknown("filename")];
    type Request = Request;
    type Response = Response;

    /// An id that is missing has a code of its own.
    fn prepare(arguments: &mut Map<String, Value>) {
        if arguments.get("file_id").is_none_or(Value::is_null) {
            arguments.insert("file_id".to_owned(), "".into());
        }
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        if let Some(file) = core.transfer.withdraw(caller, &request.file_id)? {
            let message = format!("{} is gone from Open WebUI", file.name);
            let (file_id, filename) = (file.id, file.name);
            return Ok(Reply::new(Response { file_id, filename }, message));
        }
        let link = core.transfer.delete_link(caller, &request.file_id)?;
        let kind = link.entry(&core.store).ok().map(|entry| entry.kind());
        let filename = link.name(kind);
        let message = format!("The link to {filename} no longer works");
        let response = Response {
            file_id: link.id,
            filename,
        };
        Ok(Reply::new(response, message))
    }
}
