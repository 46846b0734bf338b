package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/cas"
)

// casOpening compares opening a store with 2 GB in it with an empty one.
func casOpening(disk string) error {
	megabytes := 2000
	if text := os.Getenv("FETTLE_BENCH_OPEN"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		megabytes = n
	}
	full, empty := filepath.Join(disk, "full"), filepath.Join(disk, "empty")
	if err := errors.Join(fillBlobs(full, megabytes), fillBlobs(empty, 0)); err != nil {
		return err
	}
	names := []string{"to read", "to write"}
	times := make(map[string][]time.Duration)
	b := &casBench{times: times}
	const runs = 15
	for range runs {
		for _, dir := range []string{empty, full} {
			for _, what := range names {
				if err := openOnce(b, dir, what); err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("\nopening and closing a store with %d MB in it, beside an empty one (medians of %d)\n", megabytes, runs)
	for _, what := range names {
		fmt.Printf("  %-36s %10s\n", "empty, "+what, ms(middle(times[empty+what])))
		fmt.Printf("  %-36s %10s\n", "full, "+what, ms(middle(times[full+what])))
	}
	for _, what := range names {
		times["full, "+what], times["empty, "+what] = times[full+what], times[empty+what]
		b.against("full, "+what, "empty, "+what, "2")
	}
	return errors.Join(os.RemoveAll(full), os.RemoveAll(empty))
}

func openOnce(b *casBench, dir, what string) error {
	ctx := context.Background()
	return b.timed(dir+what, func() error {
		open := cas.OpenShared // only reads, so that it is opened for no more
		if what == "to write" {
			open = cas.OpenDir
		}
		s, closeStore := open(filepath.Join(dir, "data"))
		_, err := s.Manifests(ctx, "nobody")
		return errors.Join(err, closeStore())
	})
}

// fillBlobs makes a store with so many megabytes of files of 64 KB that can't
// be made smaller.
func fillBlobs(dir string, megabytes int) error {
	const size = 64 << 10
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{1})
	buf := make([]byte, size)
	for i := range megabytes * 1_000_000 / size {
		if i%500 == 0 {
			if err := os.Mkdir(filepath.Join(work, fmt.Sprint(i/500)), 0o755); err != nil {
				return err
			}
		}
		for at := 0; at < size; at += 8 {
			binary.LittleEndian.PutUint64(buf[at:], random.Uint64())
		}
		if err := os.WriteFile(filepath.Join(work, fmt.Sprint(i/500), fmt.Sprint(i)), buf, 0o644); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return err
	}
	defer root.Close()
	s, closeStore := cas.OpenShared(filepath.Join(dir, "data"))
	_, err = s.Snapshot(context.Background(), &cas.Workspace{Path: work, Root: root}, cas.SnapshotOptions{
		About: cas.About{ChatID: "bench"}, Limits: cas.Limits{KeepFree: -1},
	})
	return errors.Join(err, closeStore(), os.RemoveAll(work))
}
