package applier

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"
)

// held is a Secret with the text of a release.
func held(text string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"release": text}}
}

// packedRelease writes a text as Helm keeps a release in a Secret.
func packedRelease(t *testing.T, text string, zipped bool) string {
	t.Helper()
	data := []byte(text)
	if zipped {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(data)))
}

// Numbers are as Helm reads them, which decodes its record to float64.
func TestTheValuesOfAHelmReleaseAreRead(t *testing.T) {
	const release = `{"name":"web","version":12,"config":{"big":9007199254740993,"a":{"b":"c"}},"chart":{"metadata":{"name":"web"}}}`
	for _, zipped := range []bool{true, false} {
		got, err := readHelmRecord(held(packedRelease(t, release, zipped)))
		if err != nil || got.Revision != 12 || got.Chart != "web" || got.Values["big"] != float64(1<<53) {
			t.Errorf("release = %+v, %v", got, err)
		}
	}
	if got, err := readHelmRecord(held(packedRelease(t, `{"version":1,"chart":{"metadata":{"name":"web"}}}`, true))); err != nil || got.Values == nil {
		t.Errorf("one without values = %+v, %v", got, err)
	}
}

func TestWhatIsNoHelmReleaseIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":               {"", "it is not JSON"},
		"no base64":             {"%", "it is not base64"},
		"no base64 within":      {base64.StdEncoding.EncodeToString([]byte("%")), "not a release as Helm"},
		"no JSON":               {packedRelease(t, "{", true), ""},
		"another thing":         {packedRelease(t, `[]`, true), "it names no chart or no revision"},
		"no revision":           {packedRelease(t, `{"chart":{"metadata":{"name":"web"}}}`, true), "it names no chart or no revision"},
		"a cut archive":         {base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte{0x1f, 0x8b, 8}))), ""},
		"what unpacks to a lot": {packedRelease(t, strings.Repeat(" ", maxHelmRelease+2), true), "it unpacks to more than 32 MiB"},
		"a key twice":           {packedRelease(t, `{"version":1,"config":{"a":1,"a":2},"chart":{"metadata":{"name":"web"}}}`, false), ""},
	} {
		if got, err := readHelmRecord(held(tt.text)); err == nil || name != "nothing" && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
