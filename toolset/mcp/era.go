package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// eraKept is how long it is believed that a server speaks the legacy era. The
// modern one needs no memory: it is what is asked for first.
const eraKept = 7 * 24 * time.Hour

// legacy is what a server of the legacy era is greeted with.
const legacy = "2025-11-25"

// modern is the first revision of the modern era.
const modern = "2026-07-28"

func (m *Manager) eraFile(s Server) string { return filepath.Join(m.o.Dir, ".eras", s.Key()) }

// knownEra is the version to greet a server with; empty asks it.
func (m *Manager) knownEra(s Server) string {
	path := m.eraFile(s)
	info, err := os.Stat(path)
	if err != nil || m.o.Now().Sub(info.ModTime()) > eraKept {
		return ""
	}
	if text, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(text)) != legacy {
		return ""
	}
	return legacy
}

// learnEra remembers a server of the legacy era. It may be lost: then the server
// is asked again.
func (m *Manager) learnEra(s Server, version string) {
	if version >= modern || m.knownEra(s) == legacy {
		return
	}
	path := m.eraFile(s)
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, []byte(legacy+"\n"), 0o600)
	}
}

func (m *Manager) forgetEra(s Server) { _ = os.Remove(m.eraFile(s)) }
