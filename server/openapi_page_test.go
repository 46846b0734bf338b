package server

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestThePagesTypesAreThoseOfTheRoutes holds the description that the page's
// types are made of against the routes. With -update it is written anew; then
// npm run types, in server/web, makes the types.
func TestThePagesTypesAreThoseOfTheRoutes(t *testing.T) {
	t.Parallel()
	const path = "web/openapi.json"
	want := openAPI(routes(), "1")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the routes say; run go test ./server -run TestThePagesTypes -update, and npm run types in server/web", path)
	}
}
