package engine

import (
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset/render"
)

// ExportedArtifact is a page that a result in an exported chat is shown by.
type ExportedArtifact struct {
	SHA256 string `json:"sha256"`
	Data   []byte `json:"data"`
}

// maxArtifacts bounds the pages of an imported chat.
const maxArtifacts = 100

// checkArtifacts compares the pages of an imported chat with their digests.
func (d *ChatDocument) checkArtifacts() error {
	if n := len(d.Artifacts); n > maxArtifacts {
		return fmt.Errorf("it has %d pages of results; %d are allowed", n, maxArtifacts)
	}
	for i, a := range d.Artifacts {
		if len(a.Data) > render.MaxArtifact || cas.Sum(a.Data).String() != a.SHA256 {
			return fmt.Errorf("page %d of its results is too large, or not the one that its sha256 names", i+1)
		}
	}
	return nil
}
