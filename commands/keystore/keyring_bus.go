//go:build unix && !darwin

package keystore

import (
	"os"
	"path/filepath"
	"strings"
)

// noKeyring tells why there is no keyring: the Secret Service is reached by the
// session bus, and without one the library would start a bus of its own, which
// nobody has unlocked.
func noKeyring(env func(string) (string, bool)) string {
	if address, _ := env("DBUS_SESSION_BUS_ADDRESS"); address != "" && !strings.HasPrefix(address, "autolaunch:") {
		return ""
	}
	dir, _ := env("XDG_RUNTIME_DIR")
	if info, err := os.Stat(filepath.Join(dir, "bus")); dir != "" && err == nil && info.Mode()&os.ModeSocket != 0 {
		return ""
	}
	return "there is no session bus"
}
