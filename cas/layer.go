package cas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// The names in the folder of a layer.
const (
	layerUpper = "upper" // what the call wrote, in the form of overlayfs
	layerWork  = "work"  // the kernel's own
	layerMeta  = "meta"  // a LayerMeta
	layerModes = "modes" // permission bits that reading the layer had to change
	layerClock = "clock" // exists while the time of the mount is taken
)

// layerVersion is the version of the file meta.
const layerVersion = 1

// LayerMeta describes the layer of a call. NewLayer writes it ahead of the mount, so that
// a layer which a killed process has left can be landed or discarded.
type LayerMeta struct {
	Version int    `json:"version"`
	Path    string `json:"path"` // of the workspace
	Bound   bool   `json:"bound"`
	ChatID  string `json:"chat_id"`
	CallID  string `json:"call_id"`
	// ManifestID is the state that the chat had when the call started; empty for none.
	ManifestID string `json:"manifest_id,omitempty"`
	// T0 is the time of the file system, in nanoseconds, at which the call had not started:
	// an entry of the workspace whose time of change is older is what the call saw.
	T0 int64 `json:"t0"`
	// Device and Inode identify the folder of the workspace.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Boot identifies the run of the system. After another boot the layer's contents may
	// be torn or empty: nothing of a layer is synced.
	Boot string `json:"boot,omitempty"`
	// Started and Uptime are the clock, and the time since the boot, at the start. Their
	// difference shows whether the clock has been set since.
	Started time.Time     `json:"started"`
	Uptime  time.Duration `json:"uptime,omitempty"`
}

// LayerError reports that a layer cannot be read. Nothing has changed in the workspace.
type LayerError struct {
	Layer  string // the folder of the layer
	Path   string // in the layer; "" is the layer as a whole
	Reason string // a clause, such as "it has more than 1000000 names"
}

func (e *LayerError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("read layer %s: %s", e.Layer, e.Reason)
	}
	return fmt.Sprintf("read layer %s: %s: %s", e.Layer, EscapePath(e.Path), e.Reason)
}

// NewLayer makes the folder of a layer with the empty folders "upper" and "work" for an
// overlay mount, and writes its meta file, which is on the disk when NewLayer returns. The
// folder must not exist, and is best on the file system of the workspace, outside of it.
// It returns the meta file's content. Of about, the caller sets ChatID,
// CallID and ManifestID.
func NewLayer(layer string, ws *Workspace, about LayerMeta) (*LayerMeta, error) {
	m := about
	m.Version, m.Path, m.Bound = layerVersion, ws.Path, ws.Bound
	t, err := openTree(ws.Root, nil)
	if err != nil {
		return nil, fmt.Errorf("make layer of %s: %w", ws.Path, err)
	}
	defer t.close()
	top, err := selfOf(t, "")
	if err != nil {
		return nil, fmt.Errorf("make layer of %s: %w", ws.Path, err)
	}
	m.Device, m.Inode = top.dev, top.ino
	if err := m.write(layer); err != nil {
		return nil, errors.Join(fmt.Errorf("make layer of %s: %w", ws.Path, err), DropLayer(layer))
	}
	return &m, nil
}

// write makes the folders of a layer, takes the time, and writes the meta file.
func (m *LayerMeta) write(layer string) error {
	if err := os.Mkdir(layer, 0o700); err != nil {
		return err
	}
	for _, name := range []string{layerUpper, layerWork} {
		if err := os.Mkdir(filepath.Join(layer, name), 0o700); err != nil {
			return err
		}
	}
	clock := filepath.Join(layer, layerClock)
	f, err := os.OpenFile(clock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	st, err := fstat(f)
	if err = errors.Join(err, f.Close(), os.Remove(clock)); err != nil {
		return err
	}
	m.T0 = st.ctime
	m.Boot, m.Uptime = bootOf()
	m.Started = time.Now().UTC()
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(layer, layerMeta), text, atomicfile.Synced)
}

// ReadLayerMeta returns what NewLayer wrote about a layer.
func ReadLayerMeta(layer string) (*LayerMeta, error) {
	text, err := atomicfile.ReadFile(filepath.Join(layer, layerMeta))
	if err != nil {
		return nil, fmt.Errorf("read layer %s: %w", layer, err)
	}
	m := new(LayerMeta)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &LayerError{Layer: layer, Reason: "its meta file is not JSON"}
	}
	if m.Version != layerVersion {
		return nil, &LayerError{Layer: layer, Reason: fmt.Sprintf("version %d of its meta file is not one that this program reads", m.Version)}
	}
	return m, nil
}

// DropLayer removes a layer with everything in it. It follows no link, and does nothing if
// there is no layer. The overlay must not be mounted any more.
func DropLayer(layer string) error {
	root, err := os.OpenRoot(filepath.Dir(layer))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove layer %s: %w", layer, err)
	}
	defer func() { _ = root.Close() }()
	t, err := openTree(root, nil)
	if err == nil {
		err = removeStage(t, filepath.Base(layer))
		t.close()
	}
	if err != nil {
		return fmt.Errorf("remove layer %s: %w", layer, err)
	}
	return nil
}

// torn reports whether the system was started again since the layer was made.
func (m *LayerMeta) torn() bool {
	boot, _ := bootOf()
	return boot != m.Boot
}

// clockSet reports whether the clock was set since the layer was made, so that times of
// change say nothing about what the call saw.
func (m *LayerMeta) clockSet() bool {
	const most = time.Second
	boot, uptime := bootOf()
	if boot != m.Boot || boot == "" {
		return true
	}
	drift := time.Now().UTC().Round(0).Sub(m.Started.Round(0)) - (uptime - m.Uptime)
	return drift > most || drift < -most
}

// selfOf returns the stat of a folder.
func selfOf(t *tree, path string) (stat, error) {
	d, err := t.dir(path)
	if err != nil {
		return stat{}, err
	}
	defer d.close()
	return d.self()
}
