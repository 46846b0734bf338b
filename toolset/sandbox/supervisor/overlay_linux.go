package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// shortLower and shortLayer are where the layers are while an overlay is mounted: an
	// option takes 255 bytes, and a colon or a backslash in it has a meaning.
	shortLower = "/.lower"
	shortLayer = "/.layer"
)

// mountLayer mounts an overlay at a grant's path. The layers themselves are not shown: the
// sandbox has them in the old root alone, which is left.
func mountLayer(g Grant) error {
	failed := func(err error) error {
		return &Failure{Layer: true, Step: "mount an overlay on " + g.Path, Text: err.Error()}
	}
	if err := os.MkdirAll(g.Path, 0o755); err != nil {
		return err
	}
	unbindLower, err := bindShort(g.Path, shortLower)
	if err != nil {
		return failed(err)
	}
	defer unbindLower()
	unbindLayer, err := bindShort(filepath.Dir(g.Upper), shortLayer)
	if err != nil {
		return failed(err)
	}
	defer unbindLayer()
	mount, err := openOverlay(shortLower, shortLayer+"/"+filepath.Base(g.Upper), shortLayer+"/"+filepath.Base(g.Work))
	if err != nil {
		return failed(err)
	}
	defer unix.Close(mount)
	if err := unix.MoveMount(mount, "", unix.AT_FDCWD, g.Path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return failed(err)
	}
	return nil
}

// bindShort shows a folder of the old root at a short path, until unbind is called.
func bindShort(path, short string) (unbind func(), err error) {
	if err := os.Mkdir(short, 0o700); err != nil {
		return nil, err
	}
	if err := unix.Mount(oldRoot+path, short, "", unix.MS_BIND, ""); err != nil {
		os.Remove(short)
		return nil, errors.New("bind " + path + ": " + errText(err))
	}
	return func() {
		// An overlay keeps its own references to the mounts of its layers.
		unix.Unmount(short, unix.MNT_DETACH)
		os.Remove(short)
	}, nil
}

// openOverlay makes an overlay and returns a descriptor of its mount.
//
//   - userxattr: without it, a folder that is removed and made again can't be marked as such,
//     and fails halfway.
//   - volatile: without it each copied file, and the unmount, waits for a disk. What counts is
//     synced by the landing.
//   - index, xino and metacopy are off, so that each entry of the upper layer is complete by
//     itself. With redirect_dir=nofollow, renaming a folder of the lower layer is EXDEV.
func openOverlay(lower, upper, work string) (mount int, err error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, errors.New("the kernel has no overlays for users: " + errText(err))
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{
		{"lowerdir", lower}, {"upperdir", upper}, {"workdir", work},
		{"xino", "off"}, {"index", "off"}, {"metacopy", "off"}, {"redirect_dir", "nofollow"},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, reasonOf(fs, o[0], err)
		}
	}
	for _, flag := range []string{"userxattr", "volatile"} {
		if err := unix.FsconfigSetFlag(fs, flag); err != nil {
			return -1, reasonOf(fs, flag, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, reasonOf(fs, "create", err)
	}
	mount, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return -1, reasonOf(fs, "mount", err)
	}
	return mount, nil
}

// reasonOf adds the kernel's own words, if there are any, to an error of a step.
func reasonOf(fs int, step string, err error) error {
	text := step + ": " + errText(err)
	buf := make([]byte, 512)
	for range 8 { // the kernel keeps eight lines
		n, readErr := unix.Read(fs, buf)
		if readErr != nil || n <= 0 {
			break
		}
		text += "; " + strings.TrimSpace(strings.TrimPrefix(string(buf[:n]), "e "))
	}
	return errors.New(text)
}

// replaceFolder removes and remakes the folder that a probe has put into the lower layer.
func (k *supervisor) replaceFolder() error {
	for _, g := range k.Grants {
		if g.Upper == "" {
			continue
		}
		dir := filepath.Join(g.Path, ProbeFolder)
		if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700)); err != nil {
			return &Failure{Layer: true, Step: "replace a folder in an overlay", Text: err.Error()}
		}
	}
	return nil
}
