package engine

import (
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset/render"
)

// artifactField is the field of a plan's config that has the digest of its page.
const artifactField = "artifact_sha256"

// withArtifact returns a plan that names its page by digest, with the page in the store,
// so that a later version of the toolset changes no earlier result. Where the page can't
// be stored the plan stays as it is, and a notice has the reason.
func (t *turn) withArtifact(p render.Plan) render.Plan {
	if !store.HasPage(p) || t.req.Ephemeral {
		return p
	}
	var config map[string]json.RawMessage
	var file string
	if json.Unmarshal(p.Config, &config) != nil || json.Unmarshal(config["artifact"], &file) != nil || file == "" {
		return p
	}
	digest, err := t.eng.KeepArtifact(t.ctx, t.accept.Chat.ID, file)
	if err == nil {
		config[artifactField], err = record.Marshal(digest)
	}
	if err == nil {
		p.Config, err = record.Marshal(config)
	}
	if err != nil && t.ctx.Err() == nil {
		t.eng.o.Notice("the page of a result depends on its toolset: " + sanitize.Line(err.Error()))
	}
	return p
}
