package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// The site has no public interface for captions that asks for no account. What
// its own players use has two doors: the player endpoint, which needs no page,
// and the page for a browser, which holds the same answer.
const (
	youtubeSite = "https://www.youtube.com"
	// maxWatch bounds a page, maxCaptions the captions of a long video.
	maxWatch    = 8 << 20
	maxCaptions = 16 << 20
)

// player is the part of the player's answer that matters.
type player struct {
	Playability struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"playabilityStatus"`
	Details struct {
		ID     string `json:"videoId"`
		Title  string `json:"title"`
		Author string `json:"author"`
	} `json:"videoDetails"`
	Captions struct {
		List struct {
			Tracks []track `json:"captionTracks"`
		} `json:"playerCaptionsTracklistRenderer"`
	} `json:"captions"`
}

type track struct {
	Address  string `json:"baseUrl"`
	Language string `json:"languageCode"`
	Kind     string `json:"kind"` // asr is automatic
}

// tracks are those that have an address.
func (p player) tracks() []track {
	var out []track
	for _, t := range p.Captions.List.Tracks {
		if t.Address != "" && t.Language != "" {
			out = append(out, t)
		}
	}
	return out
}

// caption is one line of what is said.
type caption struct {
	at, lasts time.Duration
	text      string
}

func (c caption) end() time.Duration { return c.at + c.lasts }

// transcript gets the captions by whichever door opens.
func (y youtube) transcript(ctx context.Context, id, language string) (player, []caption, track, error) {
	var last error
	for _, door := range []func(context.Context, string) (player, error){y.byPlayer, y.byPage} {
		video, err := door(ctx, id)
		if err == nil {
			err = video.trouble(id)
		}
		if err != nil {
			last = betterOf(last, err)
			continue
		}
		chosen := choose(video.tracks(), language)
		lines, err := y.captions(ctx, chosen)
		if err != nil {
			last = betterOf(last, err)
			continue
		}
		return video, lines, chosen, nil
	}
	return player{}, nil, track{}, last
}

// betterOf keeps the error that says more: one about the video before one
// about the way, and of two about the way both.
func betterOf(a, b error) error {
	var own *toolset.ToolError
	switch {
	case a == nil:
		return b
	case errors.As(a, &own) || a.Error() == b.Error():
		return a
	case errors.As(b, &own):
		return b
	}
	return fmt.Errorf("%w; and by another way: %w", a, b)
}

// trouble says why a video has no captions to read.
func (p player) trouble(id string) error {
	reason := oneWebLine(p.Playability.Reason, 200)
	if reason != "" {
		reason = ": " + reason
	}
	lower := strings.ToLower(reason)
	switch {
	case p.Playability.Status == "LOGIN_REQUIRED" && strings.Contains(lower, "private"):
		return toolset.Errorf("video %s is private", id)
	case p.Playability.Status == "LOGIN_REQUIRED" && strings.Contains(lower, "bot"):
		return errors.New("YouTube wants to see a signed-in user from this network" + reason)
	case p.Playability.Status == "LOGIN_REQUIRED":
		return toolset.Errorf("video %s is only for signed-in users%s", id, reason)
	case p.Playability.Status == "LIVE_STREAM_OFFLINE":
		return toolset.Errorf("video %s hasn't begun%s", id, reason)
	case p.Playability.Status != "" && p.Playability.Status != "OK" && p.Playability.Status != "CONTENT_CHECK_REQUIRED":
		return toolset.Errorf("video %s can't be played%s", id, reason)
	case p.Details.ID != "" && p.Details.ID != id:
		return errors.New("YouTube answers with another video")
	case len(p.tracks()) == 0:
		return toolset.Errorf("video %s has no captions", id)
	}
	return nil
}

func (y youtube) site() string {
	if y.web.YouTube != "" {
		return y.web.YouTube
	}
	return youtubeSite
}

// byPlayer asks the endpoint of the site's own players, as the one that needs
// no token for captions.
func (y youtube) byPlayer(ctx context.Context, id string) (player, error) {
	const version = "20.10.38"
	body, err := json.Marshal(map[string]any{
		"videoId": id,
		"context": map[string]any{"client": map[string]any{"clientName": "ANDROID", "clientVersion": version, "androidSdkVersion": 30, "hl": "en"}},
	})
	if err != nil {
		return player{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, y.site()+"/youtubei/v1/player?prettyPrint=false", bytes.NewReader(body))
	if err != nil {
		return player{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "com.google.android.youtube/"+version+" (Linux; U; Android 11) gzip")
	raw, err := y.get(ctx, req, maxWatch)
	if err != nil {
		return player{}, err
	}
	var p player
	if err := json.Unmarshal(raw, &p); err != nil {
		return player{}, errors.New("YouTube's player answers no JSON")
	}
	return p, nil
}

// byPage reads the same answer out of the page for a browser.
func (y youtube) byPage(ctx context.Context, id string) (player, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, y.site()+"/watch?v="+id+"&hl=en", nil)
	if err != nil {
		return player{}, err
	}
	req.Header.Set("Accept-Language", "en")
	raw, err := y.get(ctx, req, maxWatch)
	if err != nil {
		return player{}, err
	}
	return playerOf(raw)
}

// playerOf finds the player's answer in a page.
func playerOf(page []byte) (player, error) {
	const name = "ytInitialPlayerResponse"
	for rest := page; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			break
		}
		rest = rest[i+len(name):]
		after, ok := bytes.CutPrefix(bytes.TrimLeft(bytes.TrimPrefix(rest, []byte(`"]`)), " "), []byte("="))
		if !ok {
			continue
		}
		var p player
		if json.NewDecoder(bytes.NewReader(after)).Decode(&p) == nil && (p.Playability.Status != "" || p.Details.ID != "") {
			return p, nil
		}
	}
	if bytes.Contains(page, []byte("consent.youtube.com")) {
		return player{}, errors.New("YouTube asks for consent to cookies first, which is nobody's to give here")
	}
	if bytes.Contains(page, []byte(`class="g-recaptcha"`)) {
		return player{}, errors.New("YouTube wants to see a person: too many requests came from this network")
	}
	return player{}, errors.New("YouTube's page has no player in it")
}

// get makes one request. A redirect is an answer that holds nothing.
func (y youtube) get(ctx context.Context, req *http.Request, limit int) ([]byte, error) {
	resp, err := y.web.hop(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, _ := resp.Location()
	switch {
	case to != nil && strings.HasPrefix(to.Hostname(), "consent."):
		return nil, errors.New("YouTube asks for consent to cookies first, which is nobody's to give here")
	case resp.StatusCode == http.StatusTooManyRequests:
		return nil, errors.New("YouTube answers 429: too many requests came from this network")
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("YouTube answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	raw, more, err := readBody(resp.Body, limit)
	if more {
		return nil, errors.New("YouTube's answer has more than " + size(int64(limit)))
	}
	return raw, err
}

// captions gets a track. Its address comes from the site, and must lead there.
func (y youtube) captions(ctx context.Context, t track) ([]caption, error) {
	site, err := url.Parse(y.site())
	if err != nil {
		return nil, err
	}
	u, err := site.Parse(t.Address)
	if err != nil || !sameSite(site, u) || u.Scheme != site.Scheme || u.Port() != site.Port() {
		return nil, errors.New("the captions' address leads elsewhere")
	}
	q := u.Query()
	q.Set("fmt", "json3")
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	raw, err := y.get(ctx, req, maxCaptions)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("YouTube keeps the captions from this network: its answer is empty")
	}
	lines, err := parseCaptions(raw)
	if err == nil && len(lines) == 0 {
		err = toolset.Errorf("the captions are empty")
	}
	return lines, err
}

// parseCaptions reads the forms in which captions come: JSON, and two of XML.
func parseCaptions(raw []byte) ([]caption, error) {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return captionsJSON(raw)
	}
	return captionsXML(raw)
}

func captionsJSON(raw []byte) ([]caption, error) {
	var doc struct {
		Events []struct {
			Start    float64 `json:"tStartMs"`
			Duration float64 `json:"dDurationMs"`
			Append   int     `json:"aAppend"`
			Segments []struct {
				Text string `json:"utf8"`
			} `json:"segs"`
		} `json:"events"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, errors.New("the captions can't be read")
	}
	var out []caption
	for _, e := range doc.Events {
		if e.Append != 0 { // a line end within a window
			continue
		}
		var b strings.Builder
		for _, s := range e.Segments {
			b.WriteString(s.Text)
		}
		out = addCaption(out, millis(e.Start), millis(e.Duration), b.String())
	}
	return out, nil
}

// maxTime keeps times in what a Duration holds.
const maxTime = 1000 * time.Hour

func millis(ms float64) time.Duration {
	if !(ms > 0) || ms > float64(maxTime/time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func addCaption(to []caption, at, lasts time.Duration, text string) []caption {
	if text = oneWebLine(text, 2000); text == "" {
		return to
	}
	return append(to, caption{at: at, lasts: lasts, text: text})
}

// captionsXML reads <text start="1.5" dur="2"> of the old form, in which text
// is escaped twice, and <p t="1500" d="2000"> of the newer one.
func captionsXML(raw []byte) ([]caption, error) {
	dec := xml.NewDecoder(bytes.NewReader(raw))
	dec.Strict = false
	dec.Entity = xml.HTMLEntity
	dec.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("another charset than UTF-8") }
	var out []caption
	var line *caption
	var text strings.Builder
	seen := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && seen {
			return out, nil
		}
		if err != nil {
			return nil, errors.New("the captions can't be read")
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "transcript", "timedtext":
				seen = true
			case "text":
				line = &caption{at: millis(1000 * number(t, "start")), lasts: millis(1000 * number(t, "dur"))}
				text.Reset()
			case "p":
				line = &caption{at: millis(number(t, "t")), lasts: millis(number(t, "d"))}
				text.Reset()
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if line != nil && (t.Name.Local == "text" || t.Name.Local == "p") {
				out = addCaption(out, line.at, line.lasts, html.UnescapeString(text.String()))
				line = nil
			}
		}
	}
}

func number(e xml.StartElement, name string) float64 {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			n, _ := strconv.ParseFloat(a.Value, 64)
			return n
		}
	}
	return 0
}
