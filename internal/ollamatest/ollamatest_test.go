package ollamatest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	t.Parallel()
	var host string
	t.Run("serves the model", func(t *testing.T) {
		s := Start(t)
		host = s.Host
		resp, err := http.Post("http://"+host+"/api/generate", "application/json",
			strings.NewReader(`{"model":"tiny","stream":false,"prompt":"hi"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(body), Text) {
			t.Errorf("it answers %s", body)
		}
	})
	if host == "" {
		t.Skip("ollama is not on the PATH")
	}
	client := &http.Client{Timeout: time.Second}
	if resp, err := client.Get("http://" + host + "/api/version"); err == nil {
		resp.Body.Close()
		t.Error("it still answers after its test")
	}
}
