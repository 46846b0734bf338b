package gallery_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
)

// The documents' toolsets are in the program, each under its id.
func TestTheGalleryHasTheDocumentsToolsets(t *testing.T) {
	t.Parallel()
	sets, err := gallery.All()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range sets {
		ids = append(ids, s.Manifest.ID)
		if id, ok := gallery.ID(s.Ref); !ok || id != s.Manifest.ID {
			t.Errorf("%s is the reference of %s", s.Ref, s.Manifest.ID)
		}
	}
	if want := []string{"chaoscontext", "my-toolset", "research", "research-streams", "reviews"}; !slices.Equal(ids, want) || !slices.Equal(gallery.IDs(), want) {
		t.Errorf("the gallery has %v", ids)
	}
}

// What is embedded is the whole folder: a file whose name begins with a dot or an underscore
// would be missing from the program and be in the source.
func TestEmbeddedToolsetsAreTheirFolders(t *testing.T) {
	t.Parallel()
	for _, id := range gallery.IDs() {
		files, err := gallery.Files(id)
		if err != nil {
			t.Fatal(err)
		}
		in, err := bundle.OpenFS(t.Context(), files, gallery.Ref(id), bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := bundle.OpenFolder(t.Context(), id, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if in.Hash != out.Hash {
			t.Errorf("%s: the program has %v, the folder %v", id, in.Files, out.Files)
		}
		if in.Source != (bundle.Source{Type: bundle.FromProgram, Ref: "gallery:" + id}) || len(in.Notes) > 0 {
			t.Errorf("%s: %+v, %v", id, in.Source, in.Notes)
		}
	}
}

func TestAnIDThatTheGalleryLacks(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", ".", "..", "review", "reviews/tools", "../gallery/reviews"} {
		if _, err := gallery.Files(id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
