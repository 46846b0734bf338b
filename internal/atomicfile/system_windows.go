package atomicfile

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// openNew makes a file that no other process can remove while this one has it
// open, and that this one can rename meanwhile.
func openNew(name string) (*os.File, error) {
	return createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE,
		windows.FILE_SHARE_READ, windows.CREATE_NEW)
}

// claimed does nothing: an open file has an owner.
func claimed(*os.File, string) bool { return true }

// ifStale calls use if no process has the file open in a way that forbids
// removing it.
func ifStale(name string, use func() error) (bool, error) {
	f, err := createFile(name, windows.DELETE, shareAll, windows.OPEN_EXISTING)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND) || busy(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	if err := use(); err != nil && !busy(err) {
		return true, err
	}
	return true, nil
}

func busy(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

func createFile(name string, access, share, how uint32) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	h, err := windows.CreateFile(p, access, share, nil, how,
		windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// renameInfo is FILE_RENAME_INFO of the Windows API. Where the flags aren't
// known, their lowest byte is the BOOLEAN ReplaceIfExists.
type renameInfo struct {
	flags  uint32
	root   windows.Handle
	length uint32 // of the name, in bytes
	name   [1]uint16
}

// move renames an open file. A target that others have open is replaced, if they share
// it for deletion and the system supports POSIX semantics (Windows 10 1709).
func move(f *os.File, to string) error {
	abs, err := filepath.Abs(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: to, Err: err}
	}
	name, err := windows.UTF16FromString(abs)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: to, Err: err}
	}
	size := int(unsafe.Offsetof(renameInfo{}.name)) + 2*len(name) // with the final zero
	buf := make([]uint64, size/8+1)                               // aligned for a handle
	info := (*renameInfo)(unsafe.Pointer(&buf[0]))
	info.length = uint32(2 * (len(name) - 1))
	copy(unsafe.Slice(&info.name[0], len(name)), name)
	set := func(class, flags uint32) error {
		info.flags = flags
		return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), class, (*byte)(unsafe.Pointer(info)), uint32(size))
	}
	err = set(windows.FileRenameInfoEx, windows.FILE_RENAME_REPLACE_IF_EXISTS|windows.FILE_RENAME_POSIX_SEMANTICS)
	if unknown(err) {
		err = set(windows.FileRenameInfo, windows.FILE_RENAME_REPLACE_IF_EXISTS)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: to, Err: err}
	}
	return nil
}

// unknown reports whether the system or the file system lacks a way to rename.
func unknown(err error) bool {
	for _, code := range []windows.Errno{
		windows.ERROR_INVALID_PARAMETER, windows.ERROR_NOT_SUPPORTED, windows.ERROR_CALL_NOT_IMPLEMENTED,
		windows.ERROR_INVALID_FUNCTION, windows.ERROR_INVALID_LEVEL,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

func rename(from, to string) error {
	p, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	h, err := windows.CreateFile(p, windows.DELETE|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	f := os.NewFile(uintptr(h), from)
	return errors.Join(move(f, to), f.Close())
}

// remove removes a file or an empty folder. The name is free at once, also where others
// read the file and share it for deletion: systems without POSIX semantics keep the
// file, under another name, until the last reader closes it.
func remove(name string) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return os.Remove(name)
	}
	f, err := createFile(name, windows.DELETE, shareAll, windows.OPEN_EXISTING)
	if err != nil {
		return err
	}
	set := func(class, flags uint32) error {
		return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), class, (*byte)(unsafe.Pointer(&flags)), uint32(unsafe.Sizeof(flags)))
	}
	const posixDelete = windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE
	err = set(windows.FileDispositionInfoEx, posixDelete)
	if unknown(err) {
		if err = move(f, TempName(name+"."+rand.Text())); err == nil {
			err = set(windows.FileDispositionInfo, 1)
		}
	}
	if err != nil {
		err = &os.PathError{Op: "remove", Path: name, Err: err}
	}
	return errors.Join(err, f.Close())
}

// unlinkOpen does nothing: a file is removed after it was closed.
func unlinkOpen(*os.File) error { return nil }

func removeClosed(name string) error { return ignoreMissing(Remove(name)) }

func open(name string) (*os.File, error) {
	return createFile(name, windows.GENERIC_READ, shareAll, windows.OPEN_EXISTING)
}

func readFile(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// openForSync opens a file for writing, without which Windows syncs nothing.
func openForSync(name string) (f *os.File, err error) {
	err = retry(func() error {
		f, err = createFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, shareAll, windows.OPEN_EXISTING)
		return err
	})
	return f, err
}

// ephemeral reports whether an error is transient: another process has the file open,
// removes it or replaces it at this moment.
func ephemeral(err error) bool {
	return busy(err) || errors.Is(err, windows.ERROR_FILE_NOT_FOUND) || errors.Is(err, windows.ERROR_DELETE_PENDING)
}

// SyncDir does nothing: NTFS keeps a journal of names by itself.
func SyncDir(string) error { return nil }
