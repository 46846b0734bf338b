package server

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsetJSON is an installed toolset in a list.
type toolsetJSON struct {
	registry.Toolset
	Problem string `json:"problem,omitempty"`
	// Pending counts what waits for the user's approval.
	Pending int `json:"pending_approvals,omitempty"`
	Tools   int `json:"tool_count"`
	Servers int `json:"mcp_server_count"`
	Agents  int `json:"agent_count"`
}

func toToolset(i registry.Info) toolsetJSON {
	out := toolsetJSON{
		Toolset: i.Toolset, Problem: i.Problem, Pending: len(i.Pending), Tools: len(i.Tools), Servers: len(i.Servers),
	}
	if i.Manifest != nil { // the record of a damaged toolset has none
		out.Agents = len(i.Manifest.Agents)
	}
	return out
}

type toolsetsJSON struct {
	Toolsets []toolsetJSON `json:"toolsets"`
}

func listToolsets(s *Server, w http.ResponseWriter, r *http.Request) error {
	sets, err := s.eng.InstalledToolsets(r.Context())
	if err != nil {
		return err
	}
	out := toolsetsJSON{Toolsets: []toolsetJSON{}}
	for _, i := range sets {
		out.Toolsets = append(out.Toolsets, toToolset(i))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// toolsetDetailJSON is a toolset with its tools.
type toolsetDetailJSON struct {
	Toolset toolsetJSON          `json:"toolset"`
	Tools   []catalog.ListedTool `json:"tools"`
}

func getToolset(s *Server, w http.ResponseWriter, r *http.Request) error {
	info, err := s.eng.InstalledToolset(r.Context(), r.PathValue("toolset"))
	if err != nil {
		return err
	}
	out := toolsetDetailJSON{Toolset: toToolset(*info), Tools: []catalog.ListedTool{}}
	for _, t := range info.Tools {
		out.Tools = append(out.Tools, catalog.InstalledTool(t))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// importJSON is what a bundle contains and wants. Installed tells that it is
// there now; where it isn't, it is once the same bundle is sent again with
// `approve` as the query.
type importJSON struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Version   string             `json:"version"`
	Installed bool               `json:"installed"`
	Same      bool               `json:"same,omitempty"` // was installed already, with these contents
	Approve   string             `json:"approve"`
	Items     []importItemJSON   `json:"items"` // the most dangerous first
	Variables []importVarJSON    `json:"variables"`
	Tools     []string           `json:"tools"`
	Notes     []string           `json:"notes,omitempty"`
	Warnings  []string           `json:"warnings,omitempty"`
	Replaces  string             `json:"replaces,omitempty"` // the version that is installed
	Record    *registry.Toolset  `json:"toolset,omitempty"`
	Files     []importedFileJSON `json:"files"`
}

type importItemJSON struct {
	Kind   string            `json:"kind"`
	Name   string            `json:"name"`
	Fields []importFieldJSON `json:"fields,omitempty"`
}

type importFieldJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type importVarJSON struct {
	Name    string `json:"name"`
	Missing bool   `json:"missing,omitempty"`
}

type importedFileJSON struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

func importToolset(s *Server, w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return errDraining
	}
	s.uploading.Add(1)
	defer s.uploading.Done()
	file, name, remove, err := s.receive(w, r)
	if err != nil {
		return err
	}
	defer func() { _ = remove() }() // it was a copy
	plan, err := s.eng.PlanToolset(r.Context(), file, registry.PlanOptions{Env: s.o.Env, WorkDir: s.o.DataDir, Uploaded: clean(name)})
	if err != nil {
		return &withStatus{err, http.StatusUnprocessableEntity}
	}
	return s.importPlan(w, r, plan)
}

// importPlan answers with what a plan contains and wants, and carries it out if the request
// approves it. It closes the plan.
func (s *Server) importPlan(w http.ResponseWriter, r *http.Request, plan *registry.Plan) (err error) {
	defer func() { _ = plan.Close() }() // it only removes what was unpacked
	out := planJSON(plan)
	approved := r.URL.Query().Get("approve")
	if approved != "" && approved != out.Approve {
		return fault.New(fault.Busy, "the bundle is not the one that was approved", fault.Advise("look at what this one wants"))
	}
	if approved == "" && !plan.Same {
		writeJSON(w, http.StatusOK, out)
		return nil
	}
	out.Record, err = s.eng.ImportToolset(r.Context(), plan, registry.ApplyOptions{Approved: approved != ""})
	if err != nil {
		return &withStatus{err, http.StatusUnprocessableEntity}
	}
	out.Installed = true
	status := http.StatusCreated
	if out.Same {
		status = http.StatusOK
	}
	writeJSON(w, status, out)
	return nil
}

// galleryJSON lists the toolsets that are part of the program.
type galleryJSON struct {
	Toolsets []catalog.GallerySet `json:"toolsets"`
}

func listGallery(s *Server, w http.ResponseWriter, r *http.Request) error {
	sets, err := s.eng.Gallery(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, galleryJSON{sets})
	return nil
}

func importGallery(s *Server, w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return errDraining
	}
	plan, err := s.eng.PlanToolset(r.Context(), catalog.GalleryRef(r.PathValue("toolset")), registry.PlanOptions{Env: s.o.Env, WorkDir: s.o.DataDir})
	if err != nil {
		return err
	}
	return s.importPlan(w, r, plan)
}

// mediaForm is the type of a body that an HTML form, or curl -F, sends.
const mediaForm = "multipart/form-data"

// receive stores an uploaded bundle in a file, until remove is called. name is the name
// that the client gave it.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (file, name string, remove func() error, err error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(fileTime)) // a server that can't has none to set
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))             // the gate has looked at it
	body, name := io.Reader(r.Body), r.URL.Query().Get("name")
	if kind == mediaForm {
		part, err := formFile(r)
		if err != nil {
			return "", "", nil, err
		}
		body, name, kind = part, part.FileName(), part.Header.Get("Content-Type")
		if strings.HasSuffix(name, "gz") || strings.HasSuffix(name, ".tar") {
			kind = "application/gzip"
		}
	}
	if name == "" {
		name = "bundle"
	}
	suffix := ".zip"
	if strings.Contains(kind, "gzip") || strings.Contains(kind, "tar") {
		suffix = ".tar.gz"
	}
	dir := filepath.Join(s.o.DataDir, "cache", "uploads")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", nil, err
	}
	f, remove, err := atomicfile.OpenLedger(s.o.DataDir).TempFile(dir, "upload-", suffix)
	if err != nil {
		return "", "", nil, err
	}
	n, err := io.Copy(f, body)
	if err != nil {
		var large *http.MaxBytesError
		if !errors.As(err, &large) {
			err = refuse(http.StatusBadRequest, "bad_request", "the bundle came only in part")
		}
	} else if n == 0 {
		err = fault.New(fault.Usage, "the bundle is empty")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", nil, errors.Join(err, remove())
	}
	return f.Name(), name, remove, nil
}

// formFile returns the first file of a form, whatever its field is called.
func formFile(r *http.Request) (*multipart.Part, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "bad_request", "the form can't be read: "+clean(err.Error()))
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.Usage, "the form has no file")
		}
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "bad_request", "the form can't be read: "+clean(err.Error()))
		}
		if part.FileName() != "" {
			return part, nil
		}
	}
}

func planJSON(p *registry.Plan) importJSON {
	out := importJSON{
		ID: p.Manifest.ID, Name: p.Manifest.Name, Version: p.Manifest.Version, Same: p.Same,
		// The contents and what they want are what is approved.
		Approve: p.Hash, Items: []importItemJSON{}, Variables: []importVarJSON{}, Tools: []string{},
		Notes: p.Notes, Warnings: p.Warnings, Files: []importedFileJSON{},
	}
	for _, i := range p.Items {
		item := importItemJSON{Kind: i.Kind, Name: i.Name}
		for _, f := range i.Fields {
			item.Fields = append(item.Fields, importFieldJSON{f.Name, f.Value})
		}
		out.Items = append(out.Items, item)
	}
	for _, v := range p.Variables {
		out.Variables = append(out.Variables, importVarJSON{v.Name, v.Missing})
	}
	for _, t := range p.Manifest.Tools {
		out.Tools = append(out.Tools, t.ID)
	}
	for _, f := range p.Files {
		out.Files = append(out.Files, importedFileJSON{f.Path, f.Size})
	}
	if p.Installed != nil {
		out.Replaces = p.Installed.Version
	}
	return out
}

func exportToolset(s *Server, w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("toolset")
	if _, err := s.eng.InstalledToolset(r.Context(), id); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": id + ".zip"}))
	out := &lateHeader{w: w, status: http.StatusOK}
	_, err := s.eng.ExportToolset(r.Context(), id, out, registry.ExportOptions{})
	return err
}

// enableBody switches something on or off.
type enableBody struct {
	Enabled *bool `json:"enabled"`
}

// enabledJSON tells whether that changed anything.
type enabledJSON struct {
	ID      string `json:"id"`
	Enabled bool   `json:"enabled"`
	Changed bool   `json:"changed"`
}

func enableToolset(s *Server, w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("toolset")
	return s.enable(w, r, id, func(on bool) (bool, error) { return s.eng.SwitchToolset(r.Context(), id, on) })
}

func enableTool(s *Server, w http.ResponseWriter, r *http.Request) error {
	groups, err := s.eng.ToolGroups(r.Context())
	if err != nil {
		return err
	}
	_, t, err := catalog.FindTool(groups, r.PathValue("tool"))
	if err != nil {
		return err
	}
	return s.enable(w, r, t.ID, func(on bool) (bool, error) { return s.eng.SwitchTool(r.Context(), t.ID, on) })
}

func (s *Server) enable(w http.ResponseWriter, r *http.Request, id string, do func(bool) (bool, error)) error {
	var body enableBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Enabled == nil {
		return fault.New(fault.Usage, "enabled has to be true or false")
	}
	changed, err := do(*body.Enabled)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, enabledJSON{id, *body.Enabled, changed})
	return nil
}

// uninstalledJSON is what went.
type uninstalledJSON struct {
	ID            string   `json:"id"`
	Tools         int      `json:"tools"`
	Servers       []string `json:"mcp_servers"`
	SharedServers []string `json:"shared_mcp_servers"` // stay, since others declare them
	InUse         bool     `json:"in_use,omitempty"`
}

func uninstallToolset(s *Server, w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("toolset")
	gone, err := s.eng.RemoveToolset(r.Context(), id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, uninstalledJSON{id, gone.Tools, orEmpty(gone.Servers), orEmpty(gone.Shared), gone.InUse})
	return nil
}
