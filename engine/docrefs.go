package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/textenc"
)

const (
	// maxDocRefs bounds how many documents one message names.
	maxDocRefs = 32
	// maxRefText bounds the text of one: what -f takes by default. An image may
	// have MaxDocumentSize.
	maxRefText = 16 << 20
	// maxRefNames bounds how many names are compared for a suggestion.
	maxRefNames = 10_000
)

// DocRefs gives what a text names as document 002's doc:<id>, each once, in
// order. It begins at a word, ends at a space, and what ends a sentence is no
// part of it; doc:"…" is for names with spaces. \doc:x is no reference.
func DocRefs(text string) []string {
	var out []string
	for rest, before := text, ' '; ; {
		i := strings.Index(rest, "doc:")
		if i < 0 {
			return out
		}
		if i > 0 {
			before, _ = utf8.DecodeLastRuneInString(rest[:i])
		}
		rest = rest[i+len("doc:"):]
		ref := docRef(rest)
		if ref != "" && (unicode.IsSpace(before) || strings.ContainsRune("([{<\"'`*,;", before)) && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
		before = ':'
	}
}

// docRef is the name that a text begins with.
func docRef(text string) string {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		ref, _, closed := strings.Cut(quoted, `"`)
		if closed && !strings.Contains(ref, "\n") {
			return strings.TrimSpace(ref)
		}
		return ""
	}
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, chat.Trailing)
}

// attachDocs puts what the message names into it, so that the chat has it as it
// was then: files of the workspace, what the chat was given before, and stored
// documents, in this order. One that is none of these keeps the turn from being
// begun.
func (t *turn) attachDocs(ctx context.Context) error {
	refs := t.req.Docs
	if refs == nil {
		for _, p := range t.req.Parts {
			if p.Kind == provider.TextPart {
				refs = append(refs, DocRefs(p.Text)...)
			}
		}
	}
	if len(refs) == 0 || t.accept.Again || len(t.req.Calls) > 0 {
		return nil
	}
	if len(refs) > maxDocRefs {
		return fault.New(fault.Usage, fmt.Sprintf("the question names %d documents; %d are allowed", len(refs), maxDocRefs))
	}
	parts := slices.Clone(t.req.Parts)
	for _, ref := range refs {
		if i := slices.IndexFunc(parts, func(p provider.Part) bool { return isAttachment(p, ref) }); i >= 0 {
			parts[i].Doc = ref // the question brings it itself
			continue
		}
		p, err := t.findDoc(ctx, ref)
		if err != nil {
			return err
		}
		p.Doc = ref
		parts = slices.Insert(parts, firstText(parts), *p)
	}
	t.req.Parts, t.accept.Parts = parts, parts
	return nil
}

// firstText is where the words of a message begin.
func firstText(parts []provider.Part) int {
	i := slices.IndexFunc(parts, func(p provider.Part) bool { return p.Kind == provider.TextPart })
	if i < 0 {
		return len(parts)
	}
	return i
}

func isAttachment(p provider.Part, ref string) bool {
	return (p.Kind == provider.FilePart || p.Kind == provider.ImagePart) &&
		(p.Name == ref || path.Base(filepath.ToSlash(p.Name)) == ref || p.Doc == ref)
}

// findDoc gives what a reference names as a part of a message.
func (t *turn) findDoc(ctx context.Context, ref string) (*provider.Part, error) {
	p, err := t.workspaceDoc(ref)
	if p != nil || err != nil {
		return p, err
	}
	if p := attachedIn(t.path, ref); p != nil {
		return p, nil
	}
	before, err := t.eng.OlderMessages(ctx, t.older)
	if err != nil {
		return nil, err
	}
	if p := attachedIn(before, ref); p != nil {
		return p, nil
	}
	d, err := t.eng.LookUpDocument(ctx, ref)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, t.noDoc(ctx, ref)
	}
	data, err := t.eng.DocumentContent(ctx, *d)
	if err != nil {
		return nil, err
	}
	if store.IsImage(d.MIME) {
		return &provider.Part{Kind: provider.ImagePart, Name: d.Name, MIME: d.MIME, Data: data}, nil
	}
	return &provider.Part{Kind: provider.FilePart, Name: d.Name, Text: string(data)}, nil
}

// attachedIn is the last part of messages that a reference names; nil where there
// is none.
func attachedIn(path []chat.Message, ref string) *provider.Part {
	for _, m := range slices.Backward(path) {
		for _, p := range slices.Backward(m.Parts) {
			if isAttachment(p, ref) {
				return &p
			}
		}
	}
	return nil
}

// noDoc says that a reference names nothing, and what may have been meant.
func (t *turn) noDoc(ctx context.Context, ref string) error {
	shown := sanitize.Shorten(sanitize.Line(ref), chat.MaxDocumentName)
	f := fault.New(fault.NotFound, "no document "+shown+": no file of the workspace, nothing that this chat was given, and no stored document is called so")
	names := []string{}
	if docs, err := t.eng.Documents(ctx, false); err == nil {
		for _, d := range docs {
			names = append(names, d.Name)
		}
	}
	for _, m := range append(t.path[:len(t.path):len(t.path)], t.accept.Question()) {
		for _, p := range m.Parts {
			if p.Kind == provider.FilePart || p.Kind == provider.ImagePart {
				names = append(names, p.Name)
			}
		}
	}
	if t.ws != nil {
		if d, err := t.ws.Root.Open("."); err == nil {
			more, _ := d.ReadDir(maxRefNames) // a suggestion needs no more than what can be read
			for _, e := range more {
				names = append(names, e.Name())
			}
			_ = d.Close() // it was only read
		}
	}
	if near := didyoumean.Of(ref, names); near != "" {
		f.Remedies = append(f.Remedies, fault.Advise("doc:"+near+"   may be meant"))
	}
	f.Remedies = append(f.Remedies, fault.Try(fault.ListDocuments), fault.Advise(`\doc:`+shown+"   for the words themselves"))
	return f
}

// workspaceDoc reads a file of the chat's workspace; nil where there is none.
// To look makes no workspace.
func (t *turn) workspaceDoc(ref string) (*provider.Part, error) {
	name := filepath.FromSlash(ref)
	if !filepath.IsLocal(name) || slices.Contains(strings.Split(filepath.ToSlash(filepath.Clean(name)), "/"), ".git") {
		return nil, nil
	}
	if t.ws == nil && t.accept.Chat.Workspace == "" {
		if _, err := os.Stat(t.eng.ManagedDir(t.accept.Chat.ID)); err != nil {
			return nil, nil
		}
	}
	ws, err := t.workspace()
	if err != nil {
		return nil, err
	}
	info, err := ws.Root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		return nil, nil
	case err != nil: // a link out of the folder, say
		return nil, fault.Wrap(fault.Usage, "read doc:"+sanitize.Line(ref), err)
	}
	f, err := ws.Root.Open(name)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "read doc:"+sanitize.Line(ref), err)
	}
	defer f.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, store.MaxDocumentSize+1))
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "read doc:"+sanitize.Line(ref), err)
	}
	return docPart(filepath.ToSlash(name), data)
}

// docPart makes a part of a file's content.
func docPart(name string, data []byte) (*provider.Part, error) {
	mime := http.DetectContentType(data)
	image := store.IsImage(mime)
	if limit := map[bool]int{true: store.MaxDocumentSize, false: maxRefText}[image]; len(data) > limit {
		return nil, fault.New(fault.Usage, fmt.Sprintf("%s is larger than %d MB, the limit of what a message can have of one file", sanitize.Line(name), limit>>20))
	}
	if image {
		return &provider.Part{Kind: provider.ImagePart, Name: name, MIME: mime, Data: data}, nil
	}
	text, ok := plainText(data)
	switch {
	case ok:
		return &provider.Part{Kind: provider.FilePart, Name: name, Text: text}, nil
	case mime == "application/pdf":
		return nil, fault.New(fault.Usage, sanitize.Line(name)+" is a PDF, which is not read", fault.Advise("pdftotext makes a text of it"))
	}
	return nil, fault.New(fault.Usage, sanitize.Line(name)+" is binary, which is not read", fault.Advise("convert it to text"))
}

// plainText returns a content in UTF-8 or UTF-16 as text, and whether it is text.
func plainText(data []byte) (string, bool) {
	text := string(textenc.ToUTF8(data))
	if e, _ := textenc.Detect(data); e != textenc.UTF8 {
		return text, !strings.ContainsAny(text, "\x00\uFFFD")
	}
	if strings.HasPrefix(text, "%PDF-") || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return "", false
	}
	return text, true
}
