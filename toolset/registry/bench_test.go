package registry

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkInstall(b *testing.B) {
	files := map[string]string{
		"toolset.yaml": "manifest_version: \"1\"\nid: large\nname: Large\nversion: \"1.0.0\"\ndescription: Large\n",
	}
	for i := range 1_990 {
		files[fmt.Sprintf("assets/%02d/%04d.txt", i%40, i)] = strings.Repeat(fmt.Sprint("text ", i), 150)
	}
	ref := zipOf(b, "large.zip", files)
	for b.Loop() {
		w := newWorld(b)
		w.install(ref)
		if err := w.o.Store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
