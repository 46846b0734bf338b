package chat

import (
	"crypto/sha256"
	"fmt"

	"github.com/fettle-cli/fettle/toolset/render"
)

// ExportedArtifact is a page that a result in an exported chat is shown by.
type ExportedArtifact struct {
	SHA256 string `json:"sha256"`
	Data   []byte `json:"data"`
}

// maxArtifacts bounds the pages of an imported chat.
const maxArtifacts = 100

// CheckArtifacts compares the pages of an imported chat with their digests.
func (d *Document) CheckArtifacts() error {
	if n := len(d.Artifacts); n > maxArtifacts {
		return fmt.Errorf("it has %d pages of results; %d are allowed", n, maxArtifacts)
	}
	for i, a := range d.Artifacts {
		if len(a.Data) > render.MaxArtifact || fmt.Sprintf("%x", sha256.Sum256(a.Data)) != a.SHA256 {
			return fmt.Errorf("page %d of its results is too large, or not the one that its sha256 names", i+1)
		}
	}
	return nil
}
