//go:build unix

package main

import "golang.org/x/sys/unix"

// statAll lists a folder and asks for the stat of each name, with the bare
// calls; it gives the folders in it.
func statAll(path string, buf []byte) (subs []string, files int, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(fd)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return nil, 0, err
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
	var st unix.Stat_t
	for _, name := range names {
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, 0, err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			subs = append(subs, path+"/"+name)
			continue
		}
		files++
	}
	return subs, files, nil
}
