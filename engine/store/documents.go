package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Document is a file that was stored to be named in conversations as doc:ID or
// doc:NAME. Its JSON is a record format.
type Document struct {
	ID string `json:"id"`
	// Name is what people call it; no two documents share one.
	Name string `json:"name"`
	// MIME is text/plain, or an image's.
	MIME   string `json:"mime"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// ManifestID is the state that holds its content, as documentFile.
	ManifestID string    `json:"manifest_id"`
	CreatedAt  time.Time `json:"created_at"`
	// DeletedAt is when it was removed; nil in all that can be named.
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
}

// NewDocument is what a document is made of. The content is text or an image,
// as MIME says.
type NewDocument struct {
	Name, MIME string
	Data       []byte
}

// AddedDocument is a document that was asked to be stored. Same tells that it
// was there before, with the same content.
type AddedDocument struct {
	Document
	Same bool `json:"same"`
}

const (
	// DocumentsID stands for a chat's id where the states of documents are
	// counted.
	DocumentsID = "documents"
	// documentFile is the one file of a document's state.
	documentFile = "content"
	// MaxDocumentSize bounds one document: what -f takes of an image.
	MaxDocumentSize = 20 << 20
	// MaxDocuments bounds how many one call stores or removes.
	MaxDocuments = 500
	// DocumentKept is how long a removed document can be brought back for
	// certain, as chats can.
	DocumentKept = DeletedKept
	TextMIME     = "text/plain"
)

func documentsTable() *kv.Table[Document] {
	return kv.NewTable("documents", func(d *Document) kv.Key { return kv.Str(d.ID) },
		kv.UniqueOn("name", func(d *Document) kv.Key {
			if d.DeletedAt != nil {
				return nil // its name is free again
			}
			return kv.Str(d.Name)
		}))
}

// AddDocuments stores documents: all of them or, with an error, none. One of
// the same name and content is left as it is; another content under a name that
// is taken is an error.
func (s *Store) AddDocuments(ctx context.Context, all ...NewDocument) ([]AddedDocument, error) {
	if len(all) > MaxDocuments {
		return nil, fault.New(fault.Usage, fmt.Sprintf("%d documents are too many at once; %d are allowed", len(all), MaxDocuments))
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	have, err := s.namedDocuments(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make([]AddedDocument, len(all))
	seen := map[string]bool{}
	for i, n := range all {
		if out[i], err = s.planDocument(n, have); err != nil {
			return nil, err
		}
		if seen[n.Name] {
			return nil, fault.New(fault.Usage, "two of the files would both be called "+n.Name, fault.Try(fault.AddDocument).That("one at a time"))
		}
		seen[n.Name] = true
	}
	var fresh []*AddedDocument
	var contents [][]byte
	for i := range out {
		if !out[i].Same {
			fresh, contents = append(fresh, &out[i]), append(contents, all[i].Data)
		}
	}
	kept, err := s.storeContents(ctx, contents)
	if err != nil {
		return nil, err
	}
	for i, d := range fresh {
		d.ManifestID = kept[i]
	}
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		for i := range out {
			if !out[i].Same {
				continue
			}
			if Exists, err := s.Tables.Documents.Get(tx, kv.Str(out[i].ID)); err == nil && Exists.DeletedAt == nil {
				continue
			} else if err != nil && !errors.Is(err, kv.ErrNotFound) {
				return err
			}
			return fault.New(fault.Busy, "the document "+out[i].Name+" was removed meanwhile; nothing was added")
		}
		for _, d := range fresh {
			if _, err := s.Tables.Documents.Find(tx, "name", kv.Str(d.Name)); err == nil {
				return takenName(d.Name) // another command was faster
			} else if !errors.Is(err, kv.ErrNotFound) {
				return err
			}
			if err := s.putDocument(tx, &d.Document); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.documentTrouble(err)
	}
	return out, nil
}

// putDocument stores the record of a document.
func (s *Store) putDocument(tx *kv.Tx, d *Document) error {
	return PutBounded(s.In(tx), s.Tables.Documents, d, "document "+d.Name)
}

// planDocument checks one document and gives its record, which lacks the state.
func (s *Store) planDocument(n NewDocument, have map[string]Document) (AddedDocument, error) {
	if err := chat.CheckDocumentName(n.Name); err != nil {
		return AddedDocument{}, fault.Wrap(fault.Usage, "store "+sanitize.Shorten(sanitize.Line(n.Name), chat.MaxDocumentName), err, fault.Try(fault.AddDocument))
	}
	if len(n.Data) > MaxDocumentSize {
		return AddedDocument{}, fault.New(fault.Usage, fmt.Sprintf("%s has %d MB; a document may have %d", n.Name, len(n.Data)>>20, MaxDocumentSize>>20))
	}
	if !IsImage(n.MIME) && n.MIME != TextMIME {
		return AddedDocument{}, fault.New(fault.Usage, n.Name+" is neither text nor an image")
	}
	sum := cas.Sum(n.Data).String()
	if old, ok := have[n.Name]; ok {
		if old.SHA256 != sum {
			return AddedDocument{}, takenName(n.Name)
		}
		return AddedDocument{Document: old, Same: true}, nil
	}
	return AddedDocument{Document: Document{
		ID: s.NewID(), Name: n.Name, MIME: n.MIME, Size: int64(len(n.Data)), SHA256: sum, CreatedAt: s.Options.Now(),
	}}, nil
}

func takenName(name string) error {
	return fault.New(fault.Usage, "there is another document "+name+" already",
		fault.Try(fault.RenameDocument), fault.Try(fault.RemoveDocument, name).That("first"))
}

func (s *Store) documentTrouble(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return s.StoreTrouble(err)
}

// storeContents stores contents, each as the one file of a separate state: so they are
// checked, counted, collected and backed up as the files of chats are. It returns the
// ids of the states.
func (s *Store) storeContents(ctx context.Context, contents [][]byte) ([]string, error) {
	if len(contents) == 0 {
		return nil, nil
	}
	for _, data := range contents {
		if limit := s.Options.States.MaxFile; limit > 0 && int64(len(data)) >= limit {
			return nil, fault.New(fault.Failed, "keep the document: it is larger than the limit for a file", fault.Try(fault.ShowLimits))
		}
	}
	kept, err := s.Snapshots.KeepFiles(ctx, cas.About{ChatID: DocumentsID, Source: cas.UserUpload}, documentFile, contents, s.Options.States)
	if err != nil {
		return nil, StateFault("keep the documents", err)
	}
	ids := make([]string, len(kept))
	for i, m := range kept {
		ids[i] = m.ID
	}
	return ids, nil
}

// DocumentFilter chooses documents of a list.
type DocumentFilter struct {
	// Removed chooses those that were removed and can be restored.
	Removed bool
	// Prefix chooses those whose names begin with it.
	Prefix string
	// Limit bounds the list; 0 is all.
	Limit int
}

// Documents lists the documents by name, or those that were removed and can be
// brought back, the last one first.
func (s *Store) Documents(ctx context.Context, removed bool) ([]Document, error) {
	return s.ListDocuments(ctx, DocumentFilter{Removed: removed})
}

// ListDocuments is Documents for those that a filter chooses. It reads no others,
// unless removed ones are listed.
func (s *Store) ListDocuments(ctx context.Context, f DocumentFilter) ([]Document, error) {
	var out []Document
	r := kv.Range{}
	if f.Prefix != "" {
		r.From = kv.Str(f.Prefix)
	}
	err := s.View(ctx, func(tx *kv.Tx) error {
		out = nil
		all := s.Tables.Documents.ByIndex(tx, "name", nil, r)
		if f.Removed {
			all = s.Tables.Documents.Scan(tx, kv.Range{})
		}
		for d, err := range Legible(s, all) {
			if err != nil {
				return err
			}
			switch named := strings.HasPrefix(d.Name, f.Prefix); {
			case !f.Removed && (!named || f.Limit > 0 && len(out) == f.Limit):
				return nil // names ascend
			case named && (d.DeletedAt != nil) == f.Removed:
				out = append(out, *d)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	if f.Removed {
		slices.SortFunc(out, func(a, b Document) int { return b.DeletedAt.Compare(*a.DeletedAt) })
	}
	if f.Limit > 0 {
		out = out[:min(len(out), f.Limit)]
	}
	return out, nil
}

// namedDocuments returns the documents that have the names of new ones.
func (s *Store) namedDocuments(ctx context.Context, all []NewDocument) (map[string]Document, error) {
	out := map[string]Document{}
	err := s.View(ctx, func(tx *kv.Tx) error {
		clear(out)
		for i := range all {
			if all[i].Name == "" || len(all[i].Name) > chat.MaxDocumentName {
				continue // planDocument reports what is wrong with it
			}
			d, err := s.Tables.Documents.Find(tx, "name", kv.Str(all[i].Name))
			if errors.Is(err, kv.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			out[d.Name] = *d
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil // there is no store yet
	}
	return out, err
}

// FindDocument gives a document by its id or name.
func (s *Store) FindDocument(ctx context.Context, ref string) (Document, error) {
	d, err := s.LookUpDocument(ctx, ref)
	if err != nil || d != nil {
		return deref(d), err
	}
	all, err := s.Documents(ctx, false)
	if err != nil {
		return Document{}, err
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	msg := "no document " + sanitize.Shorten(sanitize.Line(ref), chat.MaxDocumentName)
	if near := didyoumean.Of(ref, names); near != "" {
		msg += "; did you mean " + near + "?"
	}
	return Document{}, fault.New(fault.NotFound, msg, fault.Try(fault.ListDocuments))
}

func deref(d *Document) Document {
	if d == nil {
		return Document{}
	}
	return *d
}

// LookUpDocument is FindDocument that gives nil where there is none.
func (s *Store) LookUpDocument(ctx context.Context, ref string) (*Document, error) {
	var found *Document
	err := s.View(ctx, func(tx *kv.Tx) error {
		d, err := s.Tables.Documents.Get(tx, kv.Str(ref))
		if errors.Is(err, kv.ErrNotFound) {
			d, err = s.Tables.Documents.Find(tx, "name", kv.Str(ref))
		}
		if err == nil && d.DeletedAt == nil {
			found = d
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		err = nil
	}
	return found, err
}

// DocumentContent reads what a document holds.
func (s *Store) DocumentContent(ctx context.Context, d Document) ([]byte, error) {
	m, err := s.Snapshots.Manifest(ctx, d.ManifestID)
	if err == nil {
		var entry cas.Entry
		if entry, err = s.Snapshots.Lookup(ctx, m.Root, documentFile); err == nil {
			var b bytes.Buffer
			if err = s.Snapshots.Read(ctx, &b, entry); err == nil {
				return b.Bytes(), nil
			}
		}
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, StoreFault("read the document "+d.Name, err)
}

// DeleteDocuments removes documents by their ids or names: all of them or, with
// an error, none. RestoreDocuments brings them back for DocumentKept. Messages
// that named them keep what they held.
func (s *Store) DeleteDocuments(ctx context.Context, refs ...string) ([]Document, error) {
	if len(refs) > MaxDocuments {
		return nil, fault.New(fault.Usage, fmt.Sprintf("%d documents are too many at once; %d are allowed", len(refs), MaxDocuments))
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	var docs []Document
	for _, ref := range refs {
		d, err := s.FindDocument(ctx, ref)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(docs, func(o Document) bool { return o.ID == d.ID }) {
			docs = append(docs, d)
		}
	}
	now := s.Options.Now()
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		for i := range docs {
			Exists, err := s.Tables.Documents.Get(tx, kv.Str(docs[i].ID))
			if errors.Is(err, kv.ErrNotFound) || err == nil && Exists.DeletedAt != nil {
				continue // another process has removed it
			}
			if err != nil {
				return err
			}
			docs[i].DeletedAt = &now
			if err := s.putDocument(tx, &docs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.StoreTrouble(err)
	}
	return docs, nil
}

// RestoreDocuments brings back documents that were removed, by their ids or
// names: all of them or, with an error, none. Of several that had a name it is
// the one that was removed last.
func (s *Store) RestoreDocuments(ctx context.Context, refs ...string) ([]Document, error) {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	removed, err := s.Documents(ctx, true)
	if err != nil {
		return nil, err
	}
	var back []Document
	for _, ref := range refs {
		i := slices.IndexFunc(removed, func(d Document) bool { return d.ID == ref || d.Name == ref })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "there is no document "+sanitize.Shorten(sanitize.Line(ref), chat.MaxDocumentName)+" to restore",
				fault.Try(fault.ListDeletedDocuments))
		}
		d := removed[i]
		if d.DeletedAt = nil; !slices.ContainsFunc(back, func(o Document) bool { return o.ID == d.ID }) {
			back = append(back, d)
		}
	}
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		for i := range back {
			if Exists, err := s.Tables.Documents.Has(tx, kv.Str(back[i].ID)); err != nil {
				return err
			} else if !Exists {
				return fault.New(fault.NotFound, "the document "+back[i].Name+" has been removed for good meanwhile; nothing was restored")
			}
			if _, err := s.Tables.Documents.Find(tx, "name", kv.Str(back[i].Name)); err == nil {
				return fault.New(fault.Usage, "another document is called "+back[i].Name+" by now", fault.Try(fault.RemoveDocument, back[i].Name).That("first"))
			} else if !errors.Is(err, kv.ErrNotFound) {
				return err
			}
			if err := s.putDocument(tx, &back[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.documentTrouble(err)
	}
	return back, nil
}

// purgeDocuments forgets the documents whose time to be brought back is over;
// the collection that follows takes their contents.
func (s *Store) purgeDocuments(ctx context.Context) error {
	removed, err := s.Documents(ctx, true)
	if err != nil || len(removed) == 0 {
		return err
	}
	before := s.Options.Now().Add(-DocumentKept)
	return s.KV.Update(ctx, func(tx *kv.Tx) error {
		for _, was := range removed {
			d, err := s.Tables.Documents.Get(tx, kv.Str(was.ID))
			if errors.Is(err, kv.ErrNotFound) || err == nil && (d.DeletedAt == nil || d.DeletedAt.After(before)) {
				continue // it was removed for good or restored meanwhile, or is too young
			}
			if err != nil {
				return err
			}
			if err := s.Tables.Documents.Delete(tx, kv.Str(d.ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

// documentStates adds the states that documents need, also removed ones.
func (s *Store) documentStates(ctx context.Context, need map[string]bool) error {
	err := s.View(ctx, func(tx *kv.Tx) error {
		for d, err := range s.Tables.Documents.Scan(tx, kv.Range{}) {
			if err != nil && s.LeavesOut(err) {
				need[allStates] = true
				continue
			}
			if err != nil {
				return err
			}
			need[d.ManifestID] = true
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	return err
}
