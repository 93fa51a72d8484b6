//! The store of documents: `IndexedDB`, opened for each question, in one transaction each.
//!
//! What a save comes to is decided by `model::library`; here are requests. Two tabs take turns by the database's own
//! transactions. Deliberately absent: a crate around `IndexedDB`; a request is a promise in five lines.

use std::rc::Rc;

use js_sys::{Array, Date, Function, Math, Promise};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DedicatedWorkerGlobalScope, DomException, IdbDatabase, IdbKeyRange, IdbObjectStore,
    IdbOpenDbRequest, IdbRequest, IdbTransaction, IdbTransactionMode,
};

use super::Worker;
use crate::model::library::{
    DELETED_FOR, Document, Outcome, Save, Version, clean, free_name, save, thinned,
};
use crate::model::panels::documents;
use crate::protocol::Body;

const DOCUMENTS: &str = "documents";
const VERSIONS: &str = "versions";

/// Answers a question; `words` is what stands behind `docs `.
pub(super) async fn answer(worker: Rc<Worker>, rev: u32, slot: u32, text: String, ask: String) {
    let words = ask.strip_prefix("docs ").unwrap_or_default();
    let html = match answered(&worker.scope, words, &text).await {
        Ok(html) => html,
        Err(why) if words.starts_with("list ") => documents::unavailable(&said(&why)),
        Err(why) => ["none ", &said(&why).replace('\n', " ")].concat(),
    };
    worker.reply(rev, Body::Panel { slot, ask, html }, None);
}

/// An exception in words.
fn said(why: &JsValue) -> String {
    match why.dyn_ref::<DomException>() {
        Some(why) if why.name() == "QuotaExceededError" => {
            "The browser has no room left for this page.".to_owned()
        }
        Some(why) => format!("{}: {}", why.name(), why.message()),
        None => why.as_string().unwrap_or_else(|| "IndexedDB is not there.".to_owned()),
    }
}

async fn answered(
    scope: &DedicatedWorkerGlobalScope,
    words: &str,
    text: &str,
) -> Result<String, JsValue> {
    let database = open(scope).await?;
    let made = Store::begin(&database)?.answer(words, text).await;
    database.close();
    made
}

/// The database, with its two stores.
async fn open(scope: &DedicatedWorkerGlobalScope) -> Result<IdbDatabase, JsValue> {
    let factory = scope.indexed_db()?.ok_or(JsValue::NULL)?;
    let request: IdbOpenDbRequest = factory.open_with_u32("foldback", 1)?;
    let making = request.clone();
    let upgrade = Closure::once_into_js(move || {
        if let Ok(database) = making.result().and_then(JsCast::dyn_into::<IdbDatabase>) {
            // One that cannot be made is missed by the first transaction.
            let _ = database.create_object_store(DOCUMENTS);
            let _ = database.create_object_store(VERSIONS);
        }
    });
    request.set_onupgradeneeded(Some(upgrade.unchecked_ref()));
    result(&request).await?.dyn_into()
}

/// What a request comes to.
async fn result(request: &IdbRequest) -> Result<JsValue, JsValue> {
    let promise = Promise::new(&mut |resolve: Function, reject: Function| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    match JsFuture::from(promise).await {
        Ok(_) => request.result(),
        Err(_) => Err(request.error()?.map_or(JsValue::NULL, Into::into)),
    }
}

fn read<T: DeserializeOwned>(value: JsValue) -> Option<T> {
    serde_wasm_bindgen::from_value(value).ok()
}

/// Both stores within one transaction.
struct Store {
    transaction: IdbTransaction,
    documents: IdbObjectStore,
    versions: IdbObjectStore,
    now: f64,
}

impl Store {
    fn begin(database: &IdbDatabase) -> Result<Self, JsValue> {
        let names = Array::of2(&DOCUMENTS.into(), &VERSIONS.into());
        let mode = IdbTransactionMode::Readwrite;
        let transaction = database.transaction_with_str_sequence_and_mode(&names, mode)?;
        Ok(Self {
            documents: transaction.object_store(DOCUMENTS)?,
            versions: transaction.object_store(VERSIONS)?,
            transaction,
            now: Date::now(),
        })
    }

    /// Does it, and waits until it is written.
    async fn answer(&self, words: &str, text: &str) -> Result<String, JsValue> {
        let done = Promise::new(&mut |resolve: Function, reject: Function| {
            self.transaction.set_oncomplete(Some(&resolve));
            self.transaction.set_onabort(Some(&reject));
        });
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (id, further) = rest.split_once(' ').unwrap_or((rest, ""));
        let made = match word {
            "list" => self.list(id, further.split_once(' ').map_or("", |(_, args)| args)).await?,
            "save" => self.save(rest, text).await?,
            "open" => self.opened(self.document(id).await?).await?,
            "latest" => self.opened(None).await?,
            "copy" => self.copy(id).await?,
            "rename" => self.rename(id, further).await?,
            "delete" => self.delete(id, self.now).await?,
            "back" => self.delete(id, 0.0).await?,
            "forget" => {
                self.forget(id).await?;
                "said Deleted for good".to_owned()
            }
            "restore" => {
                let rev = further.parse().unwrap_or(0.0);
                let version = result(&self.versions.get(&key(id, rev))?).await?;
                match read::<Version>(version) {
                    Some(version) => ["text\n", &version.text].concat(),
                    None => "said This version is no longer there".to_owned(),
                }
            }
            _ => "said".to_owned(),
        };
        if let Err(why) = JsFuture::from(done).await {
            return Err(self.transaction.error().map_or(why, Into::into));
        }
        Ok(made)
    }

    async fn document(&self, id: &str) -> Result<Option<Document>, JsValue> {
        Ok(read(result(&self.documents.get(&id.into())?).await?))
    }

    async fn all(&self) -> Result<Vec<Document>, JsValue> {
        let all: Array = result(&self.documents.get_all()?).await?.unchecked_into();
        Ok(all.iter().filter_map(read).collect())
    }

    /// The names of those that are there, but for one.
    async fn taken(&self, but: &str) -> Result<Vec<String>, JsValue> {
        let others = |document: &Document| document.id != but && document.is_there();
        Ok(self.all().await?.into_iter().filter(others).map(|other| other.shown()).collect())
    }

    async fn versions(&self, id: &str) -> Result<Vec<Version>, JsValue> {
        let request = self.versions.get_all_with_key(range(id)?.as_ref())?;
        let all: Array = result(&request).await?.unchecked_into();
        Ok(all.iter().filter_map(read).collect())
    }

    async fn put(&self, document: &Document) -> Result<(), JsValue> {
        let request = self.documents.put_with_key(&plain(document)?, &(&*document.id).into())?;
        result(&request).await.map(drop)
    }

    async fn put_version(&self, id: &str, version: &Version) -> Result<(), JsValue> {
        let key = key(id, f64::from(version.rev));
        result(&self.versions.put_with_key(&plain(version)?, &key)?).await.map(drop)
    }

    async fn drop_version(&self, id: &str, rev: u32) -> Result<(), JsValue> {
        result(&self.versions.delete(&key(id, f64::from(rev)))?).await.map(drop)
    }

    async fn list(&self, current: &str, args: &str) -> Result<String, JsValue> {
        let mut all = self.all().await?;
        for document in &all {
            if !document.is_there() && document.deleted + DELETED_FOR < self.now {
                self.forget(&document.id).await?;
            }
        }
        all.retain(|document| document.is_there() || document.deleted + DELETED_FOR >= self.now);
        if args == "history"
            && let Some(document) = all.iter().find(|document| document.id == current)
        {
            let versions = self.versions(current).await?;
            return Ok(documents::history(document, &versions, self.now));
        }
        Ok(documents::list(&all, current, args, self.now))
    }

    async fn save(&self, words: &str, text: &str) -> Result<String, JsValue> {
        let Some(asked) = Save::read(words, text) else { return Ok("said".to_owned()) };
        let stored = self.document(asked.id).await?;
        // Reading all names is needed only where a document begins.
        let begins = stored.as_ref().is_none_or(|stored| stored.rev != asked.base);
        let taken = if begins { self.taken(asked.id).await? } else { Vec::new() };
        let outcome = save(stored.as_ref(), &asked, &taken, &fresh_id(), self.now);
        let (word, document) = match outcome {
            Outcome::Newer(document) => {
                return Ok([&*place("newer ", &document), "\n", &document.text].concat());
            }
            Outcome::Same(document) => {
                if stored.as_ref() != Some(&document) {
                    self.put(&document).await?;
                }
                ("saved ", document)
            }
            Outcome::Next { document, instead_of } => {
                if let Some(rev) = instead_of {
                    self.drop_version(&document.id, rev).await?;
                }
                self.write(&document).await?;
                ("saved ", document)
            }
            Outcome::Copy(document) => {
                self.write(&document).await?;
                ("copied ", document)
            }
        };
        Ok(place(&[word, asked.id, " "].concat(), &document))
    }

    /// A document with a new text: it is a version, too, and others may have to go.
    async fn write(&self, document: &Document) -> Result<(), JsValue> {
        self.put(document).await?;
        self.put_version(&document.id, &document.version()).await?;
        let versions = self.versions(&document.id).await?;
        let sizes: Vec<_> =
            versions.iter().map(|one| (one.rev, one.time, one.text.len())).collect();
        for rev in thinned(&sizes, self.now) {
            self.drop_version(&document.id, rev).await?;
        }
        Ok(())
    }

    /// This document for the page, or else the one that was changed last.
    async fn opened(&self, document: Option<Document>) -> Result<String, JsValue> {
        let document = if document.is_some() {
            document
        } else {
            let there = self.all().await?.into_iter().filter(Document::is_there);
            there.max_by(|a, b| a.changed.total_cmp(&b.changed))
        };
        let opens =
            |document: Document| [&*place("open ", &document), "\n", &document.text].concat();
        Ok(document.map_or_else(|| "new".to_owned(), opens))
    }

    async fn copy(&self, id: &str) -> Result<String, JsValue> {
        let Some(of) = self.document(id).await? else { return Ok("said".to_owned()) };
        let name = free_name(&of.shown(), &self.taken("").await?);
        let said = ["said Duplicated as ", &name].concat();
        let (made, changed) = (self.now, self.now);
        self.write(&Document { id: fresh_id(), name, rev: 1, made, changed, ..of }).await?;
        Ok(said)
    }

    async fn rename(&self, id: &str, name: &str) -> Result<String, JsValue> {
        let Some(mut document) = self.document(id).await? else { return Ok("said".to_owned()) };
        document.name = free_name(&clean(name), &self.taken(id).await?);
        self.put(&document).await?;
        Ok(["named ", id, " ", &document.name].concat())
    }

    /// Deletes at a time, or puts back at none.
    async fn delete(&self, id: &str, when: f64) -> Result<String, JsValue> {
        let Some(mut document) = self.document(id).await? else { return Ok("said".to_owned()) };
        document.deleted = when;
        let said = if document.is_there() {
            let shown = document.shown();
            let name = free_name(&shown, &self.taken(id).await?);
            if name != shown {
                document.name.clone_from(&name);
            }
            ["said Put back: ", &name].concat()
        } else {
            ["gone ", id, "\nDeleted: ", &document.shown(), "; it can be put back"].concat()
        };
        self.put(&document).await?;
        Ok(said)
    }

    async fn forget(&self, id: &str) -> Result<(), JsValue> {
        result(&self.documents.delete(&id.into())?).await?;
        result(&self.versions.delete(range(id)?.as_ref())?).await.map(drop)
    }
}

fn plain(value: &impl Serialize) -> Result<JsValue, JsValue> {
    Ok(serde_wasm_bindgen::to_value(value)?)
}

/// A version's key.
fn key(id: &str, rev: f64) -> JsValue {
    Array::of2(&id.into(), &rev.into()).into()
}

/// The keys of all versions of a document.
fn range(id: &str) -> Result<IdbKeyRange, JsValue> {
    IdbKeyRange::bound(&key(id, 0.0), &key(id, f64::INFINITY))
}

/// A word, and where a document stands.
fn place(word: &str, document: &Document) -> String {
    let Document { id, rev, step, name, .. } = document;
    format!("{word}{id} {rev} {step} {name}")
}

fn fresh_id() -> String {
    format!("{}-{}", Date::now(), (Math::random() * 1e9).floor())
}
