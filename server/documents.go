package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
)

// documentsJSON are the stored documents.
type documentsJSON struct {
	Documents []store.Document `json:"documents"`
}

func listDocuments(s *Server, w http.ResponseWriter, r *http.Request) error {
	removed, err := boolParam(r, "deleted")
	if err != nil {
		return err
	}
	all, err := s.eng.Documents(r.Context(), removed)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, documentsJSON{orEmpty(all)})
	return nil
}

// passagesJSON are the passages that a search in documents found, the best first.
type passagesJSON struct {
	// Model ranked by meaning. Without one NoMeaning is the reason if a model is configured.
	Model     string        `json:"model,omitempty"`
	NoMeaning string        `json:"no_meaning,omitempty"`
	Embedded  int           `json:"embedded"`
	Tokens    int64         `json:"tokens"`
	Passages  []passageJSON `json:"passages"`
}

type passageJSON struct {
	Document store.Document `json:"document"`
	Line     int            `json:"line"`
	Start    int            `json:"start"`
	End      int            `json:"end"`
	Text     string         `json:"text"`
	At       [][2]int       `json:"offsets"`
	Score    float64        `json:"score"`
	Words    int            `json:"words_rank,omitempty"`
	Meaning  int            `json:"meaning_rank,omitempty"`
	Cosine   float64        `json:"cosine,omitempty"`
}

// searchDocuments searches the documents. The first search with an embedding model embeds all
// documents; if the client goes away meanwhile, the next search continues.
func searchDocuments(s *Server, w http.ResponseWriter, r *http.Request) error {
	limit, err := intParam(r, "limit", engine.MaxFoundPassages)
	if err != nil {
		return err
	}
	onlyWords, err := boolParam(r, "words")
	if err != nil {
		return err
	}
	q, err := search.Parse(r.URL.Query().Get("q"))
	if err != nil {
		return fault.Wrap(fault.Usage, "q", err)
	}
	found, err := s.eng.SearchDocuments(r.Context(), engine.DocumentSearch{Query: q, Limit: int(limit), OnlyWords: onlyWords})
	if err != nil {
		return err
	}
	out := passagesJSON{Model: found.Model, Embedded: found.Embedded, Tokens: found.Tokens, Passages: []passageJSON{}}
	if found.NoMeaning != nil {
		_, body := explain(found.NoMeaning)
		out.NoMeaning = body.Message
	}
	for _, p := range found.Passages {
		out.Passages = append(out.Passages, passageJSON{p.Document, p.Line, p.Start, p.End, p.Text, orEmpty(p.At), p.Score, p.Words, p.Meaning, p.Cosine})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func getDocument(s *Server, w http.ResponseWriter, r *http.Request) error {
	d, err := s.eng.FindDocument(r.Context(), r.PathValue("document"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, d)
	return nil
}

// getDocumentContent gives a document to be downloaded: its text was written by
// anybody, and no browser is to take it for a page of this origin.
func getDocumentContent(s *Server, w http.ResponseWriter, r *http.Request) error {
	d, err := s.eng.FindDocument(r.Context(), r.PathValue("document"))
	if err != nil {
		return err
	}
	raw, err := s.eng.DocumentContent(r.Context(), d)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", d.MIME)
	if d.MIME == "text/plain" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(raw)
	return nil
}

// putDocument stores a document under a name. One of the same name and content is
// left as it is; another content under a name that is taken is refused.
func putDocument(s *Server, w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("document")
	if err := chat.CheckDocumentName(name); err != nil {
		return fault.Wrap(fault.Usage, "the document's name", err)
	}
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	kind := http.DetectContentType(raw)
	switch {
	case strings.HasPrefix(kind, "image/"):
	case strings.HasPrefix(kind, "text/"):
		kind = "text/plain"
	default:
		return fault.New(fault.Usage, "a document is text or an image, and this is "+kind)
	}
	added, err := s.eng.AddDocuments(r.Context(), store.NewDocument{Name: name, MIME: kind, Data: raw})
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if added[0].Same {
		status = http.StatusOK
	}
	writeJSON(w, status, added[0])
	return nil
}

func deleteDocument(s *Server, w http.ResponseWriter, r *http.Request) error {
	if _, err := s.eng.DeleteDocuments(r.Context(), r.PathValue("document")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func restoreDocument(s *Server, w http.ResponseWriter, r *http.Request) error {
	back, err := s.eng.RestoreDocuments(r.Context(), r.PathValue("document"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, back[0])
	return nil
}
