package ref

import (
	"strings"
	"testing"
)

func TestParseReadsLayouts(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for text, want := range map[string]Reference{
		"oci-layout:./dir":              {Path: "./dir"},
		"oci-layout:dir:v1.0":           {Path: "dir", Tag: "v1.0"},
		"oci-layout:/a/b.tar:v1":        {Path: "/a/b.tar", Tag: "v1"},
		"oci-layout:/a:b/c":             {Path: "/a:b/c"},
		"oci-layout:a:b:c":              {Path: "a:b", Tag: "c"},
		"oci-layout:x@" + digest:        {Path: "x", Digest: digest},
		"oci-layout:x:v1@" + digest:     {Path: "x", Tag: "v1", Digest: digest},
		"oci-layout:/mnt/usb stick/b:1": {Path: "/mnt/usb stick/b", Tag: "1"},
	} {
		want.Kind, want.Text = KindLayout, text
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"oci-layout:":              "names no OCI layout",
		"oci-layout::v1":           "names no OCI layout",
		"oci-layout:x@sha256:00":   "64 lower-case hex digits",
		"oci-layout:@" + digest:    "names no OCI layout",
		"oci-layout:x:v\u0007":     "control character",
		"oci-layout:x@sha256:\x00": "control character",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}
