package builtin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestVideoID(t *testing.T) {
	t.Parallel()
	const id = "dQw4w9WgXcQ"
	for _, given := range []string{
		id, " " + id + " ", "https://www.youtube.com/watch?v=" + id, "http://youtube.com/watch?t=10s&v=" + id + "#x", "youtube.com/watch?v=" + id,
		"https://m.youtube.com/watch?v=" + id + "&list=PLx", "https://music.youtube.com/watch?v=" + id, "https://youtu.be/" + id, "youtu.be/" + id + "?t=3",
		"https://www.youtube.com/shorts/" + id, "https://www.youtube.com/embed/" + id + "?rel=0", "https://www.youtube.com/live/" + id,
		"https://www.youtube-nocookie.com/embed/" + id, "https://www.youtube.com/v/" + id, "https://www.youtube.com/e/" + id,
		"https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D" + id, "https://www.youtube.com/oembed?url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D" + id,
		"https://WWW.YouTube.com/watch?v=" + id,
	} {
		if got, err := videoID(given); err != nil || got != id {
			t.Errorf("%s: %q %v", given, got, err)
		}
	}
	for _, given := range []string{
		"", "short", id + "x", "https://example.com/watch?v=" + id, "https://notyoutube.com/watch?v=" + id, "https://youtube.com.evil.org/watch?v=" + id,
		"https://www.youtube.com/watch?v=", "https://www.youtube.com/", "https://www.youtube.com/@channel", "https://www.youtube.com/playlist?list=PL" + id,
		"https://www.youtube.com/watch?v=../../../etc", "https://youtu.be/", "dQw4w9WgXc\n", "http://[::1",
	} {
		if got, err := videoID(given); err == nil {
			t.Errorf("%q is taken for %s", given, got)
		}
	}
}

// site is YouTube as far as the tool knows it.
type site struct {
	player, page, captions string // answers; an empty player is a 403
	consent                bool
	asked                  []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/youtubei/v1/player":
		var body struct {
			VideoID string `json:"videoId"`
			Context struct{ Client struct{ ClientName string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost || !isVideoID(body.VideoID) || body.Context.Client.ClientName == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if s.player == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, s.player)
	case "/watch":
		if s.consent {
			http.Redirect(w, r, "https://consent.youtube.com/m?continue=x", http.StatusFound)
			return
		}
		fmt.Fprint(w, s.page)
	case "/api/timedtext":
		s.asked = append(s.asked, r.URL.Query().Get("lang")+" "+r.URL.Query().Get("kind")+" "+r.URL.Query().Get("fmt"))
		fmt.Fprint(w, s.captions)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

const (
	playable = `{"playabilityStatus":{"status":"OK"},"videoDetails":{"videoId":"dQw4w9WgXcQ","title":"A \u0026 B","author":"Someone"},
		"captions":{"playerCaptionsTracklistRenderer":{"captionTracks":[
		{"baseUrl":"http://www.youtube.com/api/timedtext?v=dQw4w9WgXcQ\u0026lang=de","languageCode":"de","name":{"simpleText":"German"}},
		{"baseUrl":"/api/timedtext?v=x\u0026lang=en\u0026kind=asr","languageCode":"en","kind":"asr","isTranslatable":true},
		{"baseUrl":"/api/timedtext?v=x\u0026lang=en-GB","languageCode":"en-GB"}]}}}`
	json3 = `{"wireMagic":"pb3","events":[
		{"tStartMs":0,"dDurationMs":9000,"id":1,"wpWinPosId":1},
		{"tStartMs":1200,"dDurationMs":2000,"segs":[{"utf8":"Never"},{"utf8":" gonna","tOffsetMs":300}]},
		{"tStartMs":3200,"dDurationMs":100,"aAppend":1,"segs":[{"utf8":"\n"}]},
		{"tStartMs":3300,"dDurationMs":1000,"segs":[{"utf8":"give\nyou up"}]},
		{"tStartMs":65000,"dDurationMs":1000,"segs":[{"utf8":"[Music]"}]}]}`
	oldXML = `<?xml version="1.0" encoding="utf-8" ?><transcript><text start="1.2" dur="2">Never &amp;#39;gonna&amp;#39;</text><text start="65">end</text></transcript>`
	newXML = `<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><body><p t="1200" d="2000"><s>Never</s><s t="300"> gonna</s></p><p t="65000" d="1"></p><p t="65000" d="10">end</p></body></timedtext>`
)

func TestYouTubeTranscript(t *testing.T) {
	t.Parallel()
	page := `<html><script>var x = window["ytInitialPlayerResponse"]; var ytInitialPlayerResponse = ` + playable + `;var meta = 1;</script>`
	for name, c := range map[string]struct {
		site  site
		args  object
		want  string // of content
		asked string
	}{
		"by the player":             {site{player: playable, captions: json3}, object{}, "Never gonna give you up\n\n[Music]", "en-GB  json3"},
		"by the page":               {site{page: page, captions: json3}, object{}, "Never gonna give you up\n\n[Music]", "en-GB  json3"},
		"with times":                {site{player: playable, captions: json3}, object{"timed": true}, "0:01 Never gonna\n0:03 give you up\n1:05 [Music]", "en-GB  json3"},
		"in a language":             {site{player: playable, captions: json3}, object{"language": "de"}, "Never gonna give you up\n\n[Music]", "de  json3"},
		"in that very language":     {site{player: playable, captions: json3}, object{"language": "en"}, "Never gonna give you up\n\n[Music]", "en asr json3"},
		"in another country's":      {site{player: playable, captions: json3}, object{"language": "de-AT"}, "Never gonna give you up\n\n[Music]", "de  json3"},
		"in one that there isn't":   {site{player: playable, captions: json3}, object{"language": "fr"}, "Never gonna give you up\n\n[Music]", "en-GB  json3"},
		"old XML":                   {site{player: playable, captions: oldXML}, object{}, "Never 'gonna'\n\nend", "en-GB  json3"},
		"new XML":                   {site{player: playable, captions: newXML}, object{"timed": true}, "0:01 Never gonna\n1:05 end", "en-GB  json3"},
		"a player that is not well": {site{player: `{"playabilityStatus":{"status":"LOGIN_REQUIRED","reason":"Sign in to confirm you're not a bot"}}`, page: page, captions: json3}, object{}, "Never gonna give you up\n\n[Music]", "en-GB  json3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.args["video"] = "https://youtu.be/dQw4w9WgXcQ"
			res, err := callWeb(t, youtubeTranscript(someWeb(t, &c.site)), c.args)
			if err != nil {
				t.Fatal(err)
			}
			d := data[youtubeData](t, res)
			if d.Content != c.want || strings.Join(c.site.asked, ",") != c.asked || d.Title != "A & B" || d.Author != "Someone" || len(d.Languages) != 3 ||
				d.Automatic != strings.Contains(c.asked, "asr") {
				t.Errorf("%+v asked %q", d, c.site.asked)
			}
			if c.args["language"] == "fr" && !strings.Contains(res.Text, "there are none in fr; there are: de, en (automatic), en-GB") {
				t.Errorf("%s", res.Text)
			}
		})
	}
}

func TestYouTubeWithoutTranscript(t *testing.T) {
	t.Parallel()
	status := func(status, reason string) string {
		raw, err := json.Marshal(object{"playabilityStatus": object{"status": status, "reason": reason}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	elsewhere := strings.ReplaceAll(strings.ReplaceAll(playable, "http://www.youtube.com/api", "/api"), `"/api`, `"http://evil.example/api`)
	for name, c := range map[string]struct {
		site site
		want string
	}{
		"private":               {site{player: status("LOGIN_REQUIRED", "This is a private video.")}, "is private"},
		"for adults":            {site{player: status("LOGIN_REQUIRED", "Sign in to confirm your age")}, "only for signed-in users: Sign in to confirm your age"},
		"gone":                  {site{player: status("ERROR", "This video is unavailable")}, "can't be played: This video is unavailable"},
		"not begun":             {site{player: status("LIVE_STREAM_OFFLINE", "Live in 3 days")}, "hasn't begun: Live in 3 days"},
		"a hostile reason":      {site{player: status("ERROR", "\x1b[31m"+strings.Repeat("x", 1000))}, "can't be played"},
		"no captions":           {site{player: `{"playabilityStatus":{"status":"OK"},"videoDetails":{"videoId":"dQw4w9WgXcQ"}}`}, "has no captions"},
		"another video":         {site{player: strings.ReplaceAll(playable, "dQw4w9WgXcQ", "AAAAAAAAAAA")}, "another video"},
		"empty captions":        {site{player: playable, captions: `{"events":[]}`}, "the captions are empty"},
		"captions kept back":    {site{player: playable, captions: ""}, "keeps the captions from this network"},
		"captions of nonsense":  {site{player: playable, captions: "<html><p>x"}, "the captions can't be read"},
		"captions elsewhere":    {site{player: elsewhere}, "leads elsewhere"},
		"consent":               {site{consent: true}, "consent"},
		"a page without player": {site{page: "<html>"}, "no player"},
		"a page with consent":   {site{page: `<form action="https://consent.youtube.com/s">`}, "consent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := callWeb(t, youtubeTranscript(someWeb(t, &c.site)), object{"video": "dQw4w9WgXcQ"})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 400 {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := callWeb(t, youtubeTranscript(Web{}), object{"video": "https://example.com/"}); err == nil || !strings.Contains(err.Error(), "no video of YouTube") {
		t.Errorf("%v", err)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	lines := []caption{{0, time.Second, "a"}, {time.Second, time.Second, "b"}, {3700 * time.Second, time.Second, "c"}}
	if got := writeLines(lines, true); got != "0:00:00 a\n0:00:01 b\n1:01:40 c" {
		t.Errorf("%q", got)
	}
	if got := writeLines(lines, false); got != "a b\n\nc" {
		t.Errorf("%q", got)
	}
}

func FuzzCaptions(f *testing.F) {
	for _, s := range []string{json3, oldXML, newXML, "", "{", "<transcript><text start='NaN'>", `{"events":[{"tStartMs":1e300,"segs":[{"utf8":"x"}]}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines, err := parseCaptions(raw)
		for _, l := range lines {
			if err == nil && (l.at < 0 || l.lasts < 0 || l.text == "" || strings.ContainsAny(l.text, "\n\x1b")) {
				t.Errorf("%+v", l)
			}
		}
		_ = writeLines(lines, true)
		_, _ = playerOf(raw)
	})
}
