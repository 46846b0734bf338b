package server

import (
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/server/dialect"
)

func ollamaPs(s *Server, w http.ResponseWriter, r *http.Request) error {
	list, err := s.eng.RunningModels(r.Context())
	if err != nil {
		return err
	}
	out := make([]dialect.RunningModel, 0, len(list))
	for _, m := range list {
		out = append(out, dialect.RunningModel{
			Name: m.Name, Digest: m.Digest, Size: m.Size, VRAM: m.VRAM, Context: m.ContextLength, Expires: m.Expires,
		})
	}
	writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaPs(out))
	return nil
}

// modelNamed reads the body of a request about one model.
func modelNamed(w http.ResponseWriter, r *http.Request) (name string, stream bool, err error) {
	raw, err := readBody(w, r)
	if err != nil {
		return "", false, err
	}
	name, stream, bad := dialect.ModelRequest(raw)
	if bad != nil {
		return "", false, bad
	}
	return name, stream, nil
}

func ollamaDelete(s *Server, w http.ResponseWriter, r *http.Request) error {
	name, _, err := modelNamed(w, r)
	if err != nil {
		return err
	}
	if err := s.eng.RemoveModel(r.Context(), name); err != nil {
		return unknownModel(name, err)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// pullEvery is how often the progress of a pull is written: Ollama's clients draw a bar.
const pullEvery = 100 * time.Millisecond

// ollamaPull has Ollama fetch a model, and writes its progress as lines of JSON. The pull
// ends with its client; what has come is kept, and the next pull continues from there.
func ollamaPull(s *Server, w http.ResponseWriter, r *http.Request) error {
	name, stream, err := modelNamed(w, r)
	if err != nil {
		return err
	}
	rc := http.NewResponseController(w)
	begun, last := false, time.Time{}
	send := func(at provider.Progress) {
		_ = rc.SetWriteDeadline(time.Now().Add(s.o.StallTime)) // a server that can't has none to set
		if !begun {
			begun = true
			w.Header().Set("Content-Type", dialect.Ollama.Form().ContentType)
			w.WriteHeader(http.StatusOK)
		}
		_, _ = w.Write(dialect.OllamaProgress(at.Stage, at.Done, at.Total)) // the context ends with the client
		_ = rc.Flush()
	}
	stage := ""
	err = s.eng.PullModel(r.Context(), name, func(at provider.Progress) {
		if now := time.Now(); stream && (at.Stage != stage || now.Sub(last) >= pullEvery) {
			stage, last = at.Stage, now
			send(at)
		}
	})
	switch {
	case err != nil && !begun:
		return unknownModel(name, err)
	case err != nil:
		_, body := explain(err)
		_, _ = w.Write(dialect.OllamaError(body.Message))
		return nil
	case stream:
		send(provider.Progress{Stage: "success"})
		return nil
	}
	writeRaw(w, http.StatusOK, dialect.Ollama.Form().ObjectType, dialect.OllamaProgress("success", 0, 0))
	return nil
}

// ollamaLacks refuses what only Ollama itself can do, in the form that its clients read.
func ollamaLacks(*Server, http.ResponseWriter, *http.Request) error {
	return fault.New(fault.NotFound, "fettle makes, copies and publishes no models; ask Ollama itself")
}

type modelBody struct {
	Model  string `json:"model"`
	Stream *bool  `json:"stream,omitempty"`
}

// ollamaModelRoutes are those by which Ollama's clients manage its models.
func ollamaModelRoutes() []route {
	list := []route{
		{op: "ollama_ps", method: http.MethodGet, path: "/api/ps", do: ollamaPs, summary: "The models that Ollama has in memory"},
		{op: "ollama_pull", method: http.MethodPost, path: "/api/pull", do: ollamaPull, summary: "Have Ollama fetch a model", body: modelBody{}, takes: jsonBody(), media: mediaLines},
		{op: "ollama_delete", method: http.MethodDelete, path: "/api/delete", do: ollamaDelete, summary: "Have Ollama delete a model", body: modelBody{}, takes: jsonBody()},
	}
	for _, name := range []string{"create", "copy", "push"} {
		list = append(list, route{
			op: "ollama_" + name, method: http.MethodPost, path: "/api/" + name, do: ollamaLacks, takes: jsonBody(), body: modelBody{},
			summary: "Refused: only Ollama itself can do this",
		})
	}
	for i := range list {
		list[i].speaks = dialect.Ollama
	}
	return list
}
