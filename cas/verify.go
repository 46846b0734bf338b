package cas

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Problem is something in the store that isn't what was stored.
type Problem struct {
	What   string // "blob", "tree", "manifest", "store"
	Digest Digest // of a blob or tree
	Reason string
	// Uses are the paths of states that need it, MoreUses how many more there
	// are.
	Uses     []Use
	MoreUses int
}

// Use is a place in a state.
type Use struct {
	ChatID     string
	ManifestID string
	Path       string // empty for the state as a whole
}

// VerifyReport is what Verify has looked at and found.
type VerifyReport struct {
	Manifests int
	Trees     int
	Blobs     int
	Bytes     int64 // of blobs that were read
	Problems  []Problem
}

// maxUses bounds Problem.Uses: past a hundred nobody reads on.
const maxUses = 100

// Verify reads everything in the store and compares it with its digests, and
// tells for what is damaged or missing which chats and paths need it. It changes
// nothing. read is called with the bytes of each piece; it may be nil. Verify
// fails only if it can't look.
func (s *Store) Verify(ctx context.Context, read func(bytes int64)) (*VerifyReport, error) {
	return s.verify(ctx, &verifier{read: read})
}

// Check is a Verify that does not read the contents of files: it reads every record,
// and checks that each file that a state needs exists with its size.
func (s *Store) Check(ctx context.Context) (*VerifyReport, error) {
	return s.verify(ctx, &verifier{shallow: true})
}

func (s *Store) verify(ctx context.Context, v *verifier) (*VerifyReport, error) {
	release, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v.s, v.ctx, v.bad, v.sizes = s, ctx, make(map[Digest]*Problem), make(map[Digest]int64)
	if v.read == nil {
		v.read = func(int64) {}
	}
	if err := v.all(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return &v.out, nil
}

type verifier struct {
	s    *Store
	ctx  context.Context
	read func(int64)
	out  VerifyReport
	// shallow leaves the contents of files unread.
	shallow bool

	manifests []*Manifest
	sizes     map[Digest]int64 // of the blobs that states need
	bad       map[Digest]*Problem
	order     []Digest // of bad
}

func (v *verifier) all() error {
	var err error
	v.manifests, err = v.s.allManifests(v.ctx, func(err error) error {
		v.out.Problems = append(v.out.Problems, Problem{What: "manifest", Reason: oneLine(err)})
		return nil
	})
	if err == nil && len(v.out.Problems) > 0 {
		err = v.chatsOf(v.out.Problems)
	}
	if err != nil {
		return err
	}
	v.out.Manifests = len(v.manifests)
	if err := v.trees(); err != nil {
		return err
	}
	if err := v.blobs(); err != nil {
		return err
	}
	if !v.shallow {
		if err := v.s.eachFile(v.file); err != nil {
			return err
		}
	}
	// Whatever else is stored, by the sums that the store itself keeps.
	var corrupt *kv.CorruptError
	if err := v.s.kv.Verify(v.ctx); errors.As(err, &corrupt) {
		v.out.Problems = append(v.out.Problems, Problem{What: "store", Reason: oneLine(corrupt)})
	} else if err != nil {
		return err
	}
	return v.blame()
}

// oneLine is an error for people: what the records' library says of a block goes
// on with pages of its content.
func oneLine(err error) string {
	const most = 400
	text, _, _ := strings.Cut(err.Error(), "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// chatsOf finds the chats of manifests that can't be read: their index still has
// them.
func (v *verifier) chatsOf(bad []Problem) error {
	chats := make(map[string]bool)
	for _, m := range v.manifests {
		chats[m.ChatID] = true
	}
	return v.s.kv.View(v.ctx, func(tx *kv.Tx) error {
		for u, err := range v.s.usage.Scan(tx, kv.Range{}) {
			if err == nil {
				chats[u.ChatID] = true
			}
		}
		for chat := range chats {
			for _, err := range v.s.manifests.ByIndex(tx, "chat", kv.Str(chat), kv.Range{}) {
				for i := range bad {
					if err != nil && bad[i].Reason == oneLine(err) {
						bad[i].Uses = append(bad[i].Uses, Use{ChatID: chat})
					}
				}
			}
		}
		return v.ctx.Err()
	})
}

func (v *verifier) fault(d Digest, what, reason string) {
	if v.bad[d] != nil {
		return
	}
	v.bad[d] = &Problem{What: what, Digest: d, Reason: reason}
	v.order = append(v.order, d)
}

// trees visits every tree that a manifest reaches.
func (v *verifier) trees() error {
	r := newReach(v.s)
	r.blob = func(e *Entry) { v.sizes[e.Digest] = e.Size }
	r.tree = func(Digest, []Entry) { v.out.Trees++ }
	r.damage = func(d Digest, err error) error {
		v.fault(d, "tree", reasonIn(err))
		return nil
	}
	roots := make([]Digest, len(v.manifests))
	for i, m := range v.manifests {
		roots[i] = m.Root
	}
	return r.from(v.ctx, roots)
}

// reasonIn gives what is wrong, without the object's name.
func reasonIn(err error) string {
	var damage *DamageError
	if errors.As(err, &damage) {
		return damage.Reason
	}
	return oneLine(err)
}

// blobs reads the small blobs that states need, and looks for the large ones.
func (v *verifier) blobs() error {
	var small []Digest
	for d, size := range v.sizes {
		v.out.Blobs++
		switch {
		case size <= smallBlob:
			small = append(small, d)
		case !v.s.hasFile(d, size):
			v.fault(d, "blob", "its file is missing or has another size")
		}
	}
	slices.SortFunc(small, func(a, b Digest) int { return strings.Compare(string(a[:]), string(b[:])) })
	for chunk := range slices.Chunk(small, readAtOnce) {
		err := v.s.kv.View(v.ctx, func(tx *kv.Tx) error {
			for _, d := range chunk {
				if err := v.small(tx, d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) small(tx *kv.Tx, d Digest) error {
	err := v.s.smallBlobOf(tx, d, func(content []byte) error {
		v.out.Bytes += int64(len(content))
		v.read(int64(len(content)))
		if int64(len(content)) != v.sizes[d] {
			return &DamageError{Digest: d, What: "blob", Reason: "a state has another size of it"}
		}
		return nil
	})
	var damage *DamageError
	if errors.As(err, &damage) {
		v.fault(d, "blob", damage.Reason)
		return nil
	}
	return err
}

// file reads a large blob, whether a state needs it or not.
func (v *verifier) file(path string, d Digest, _ int64) error {
	f, err := os.Open(path)
	if err != nil {
		v.fault(d, "blob", reasonOf(err))
		return nil
	}
	defer func() { _ = f.Close() }()
	c := copier{ctx: v.ctx, sum: sha256.New(), moved: func(n int64) { v.out.Bytes += n; v.read(n) }}
	if _, err := c.copy(nil, io.Reader(f)); err != nil {
		if v.ctx.Err() != nil {
			return err
		}
		v.fault(d, "blob", reasonOf(err))
	} else if c.digest() != d {
		v.fault(d, "blob", "its content is another one")
	}
	return nil
}

// blame finds the chats and paths that need what is bad.
func (v *verifier) blame() error {
	if len(v.bad) == 0 {
		return nil
	}
	b := &blamer{v: v, leads: make(map[Digest]bool), trees: make(map[Digest][]Entry)}
	for _, m := range v.manifests {
		leads, err := b.look(m.Root, 0)
		if err != nil {
			return err
		}
		if leads {
			b.list(m, "", m.Root)
		}
	}
	for _, d := range v.order {
		v.out.Problems = append(v.out.Problems, *v.bad[d])
	}
	return nil
}

// blamer walks only where something bad is reached.
type blamer struct {
	v     *verifier
	leads map[Digest]bool
	trees map[Digest][]Entry // those that lead to something bad
}

func (b *blamer) look(d Digest, depth int) (bool, error) {
	if known, ok := b.leads[d]; ok {
		return known, nil
	}
	if b.v.bad[d] != nil || depth > maxDepth+1 {
		b.leads[d] = true
		return true, nil
	}
	entries, err := b.v.s.Tree(b.v.ctx, d)
	if err != nil {
		return false, err
	}
	leads := false
	for i := range entries {
		e := &entries[i]
		switch {
		case e.content():
			leads = leads || b.v.bad[e.Digest] != nil
		case e.Kind == Folder:
			below, err := b.look(e.Digest, depth+1)
			if err != nil {
				return false, err
			}
			leads = leads || below
		}
	}
	b.leads[d] = leads
	if leads {
		b.trees[d] = entries
	}
	return leads, nil
}

func (b *blamer) list(m *Manifest, path string, d Digest) {
	if p := b.v.bad[d]; p != nil {
		b.use(p, m, path)
		return
	}
	for _, e := range b.trees[d] {
		switch {
		case e.content() && b.v.bad[e.Digest] != nil:
			b.use(b.v.bad[e.Digest], m, join(path, e.Name))
		case e.Kind == Folder && b.leads[e.Digest]:
			b.list(m, join(path, e.Name), e.Digest)
		}
	}
}

func (b *blamer) use(p *Problem, m *Manifest, path string) {
	if len(p.Uses) >= maxUses {
		p.MoreUses++
		return
	}
	p.Uses = append(p.Uses, Use{ChatID: m.ChatID, ManifestID: m.ID, Path: path})
}
