-- The index. Derived from archive, cards, names and tombstones: it may be deleted at any time.
-- {out} is the schema of the output file, which is attached.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;

-- One row a session. chain_to: the session whose transcript holds all of this one's records (0: none).
CREATE TABLE session (
  no INTEGER PRIMARY KEY,
  client TEXT NOT NULL, id TEXT NOT NULL,
  cwd TEXT NOT NULL DEFAULT '', project TEXT NOT NULL DEFAULT '', branch TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', title_by TEXT NOT NULL DEFAULT '', ask TEXT NOT NULL DEFAULT '',
  started REAL NOT NULL DEFAULT 0, updated REAL NOT NULL DEFAULT 0,
  messages INTEGER NOT NULL DEFAULT 0, events INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0, meta INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0,
  chain_to INTEGER NOT NULL DEFAULT 0, chain INTEGER NOT NULL DEFAULT 1, fork_of TEXT NOT NULL DEFAULT '',
  words INTEGER NOT NULL DEFAULT 0,
  pieces INTEGER NOT NULL DEFAULT 0,
  other_title TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '',
  entities TEXT NOT NULL DEFAULT '', written_by TEXT NOT NULL DEFAULT '', written_at REAL NOT NULL DEFAULT 0,
  UNIQUE (client, id)
);
CREATE INDEX session_id ON session (id);

-- One row a file of a card: when it was taken in, and what it says. A list holds one item a line.
CREATE TABLE card (
  name TEXT PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL, session INTEGER NOT NULL,
  id TEXT NOT NULL, client TEXT NOT NULL, project TEXT NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
  messages INTEGER NOT NULL, title TEXT NOT NULL, task TEXT NOT NULL, status TEXT NOT NULL, method TEXT NOT NULL,
  entities TEXT NOT NULL, tags TEXT NOT NULL, artifacts TEXT NOT NULL, next TEXT NOT NULL,
  written_by TEXT NOT NULL, written_at REAL NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX card_session ON card (session);

-- One row a transcript file. done: bytes of the copy that conv has taken in.
CREATE TABLE file (
  no INTEGER PRIMARY KEY,
  session INTEGER NOT NULL, client TEXT NOT NULL, copy TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT '',
  done INTEGER NOT NULL DEFAULT 0, mark TEXT NOT NULL DEFAULT '',
  versions TEXT NOT NULL DEFAULT '',
  facts BLOB NOT NULL DEFAULT '{}', uuids BLOB NOT NULL DEFAULT x''
);
CREATE INDEX file_session ON file (session);

-- What the walk saw last, of transcripts and companions alike.
CREATE TABLE source (path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, ino INTEGER NOT NULL, copy TEXT NOT NULL)
  WITHOUT ROWID;

-- Rows of conv: rowid = session << 20 | n; start, stop: offsets of the first and last line in the copy;
-- key: fingerprint of a long request, 0 for none.
CREATE TABLE piece (rowid INTEGER PRIMARY KEY, file INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, words INTEGER NOT NULL,
  key INTEGER NOT NULL);
CREATE INDEX piece_key ON piece (key) WHERE key != 0;
CREATE INDEX piece_file ON piece (file);
-- Rows that the contentless tables still hold and nobody may see.
CREATE TABLE dead (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);

CREATE VIRTUAL TABLE head USING fts5(title, project, ask, task, tags, card, tokenize="{tokenizer}");
CREATE VIRTUAL TABLE conv USING fts5(user, assistant, actions, aside, content='', tokenize="{tokenizer}");
CREATE VIRTUAL TABLE head_word USING fts5vocab(head, 'instance');
CREATE VIRTUAL TABLE head_words USING fts5vocab(head, 'row');
CREATE VIRTUAL TABLE conv_word USING fts5vocab(conv, 'instance');
CREATE VIRTUAL TABLE conv_words USING fts5vocab(conv, 'row');

CREATE TABLE {out}.dead (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE {out}.meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
-- Bytes of the copy that outp has taken in: kept here, since two files are not written as one.
CREATE TABLE {out}.printed (file INTEGER PRIMARY KEY, done INTEGER NOT NULL);
CREATE TABLE {out}.print (rowid INTEGER PRIMARY KEY, file INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL);
CREATE VIRTUAL TABLE {out}.outp USING fts5(text, content='', detail=none, columnsize=0, tokenize="{tokenizer}");
CREATE VIRTUAL TABLE {out}.outp_words USING fts5vocab(outp, 'row');
