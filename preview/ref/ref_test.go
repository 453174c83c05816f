package ref

import (
	"strings"
	"testing"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseReadsEveryRowOfTheGrammar(t *testing.T) {
	tests := []struct {
		text string
		want Reference
	}{
		{"mongodb", Reference{Kind: KindPackage, Package: "mongodb"}},
		{"3scale-community-operator", Reference{Kind: KindPackage, Package: "3scale-community-operator"}},
		{"mongodb@1.10.0", Reference{Kind: KindPackage, Package: "mongodb", Version: "1.10.0"}},
		{"mongodb@>=1.8 <2", Reference{Kind: KindPackage, Package: "mongodb", Version: ">=1.8 <2"}},
		{"oci://quay.io/org/bundle:v1", Reference{Kind: KindImage, Image: "quay.io/org/bundle:v1"}},
		{"oci://registry/bundle:v1", Reference{Kind: KindImage, Image: "registry/bundle:v1"}},
		{"quay.io/org/bundle:v1.0_x", Reference{Kind: KindImage, Image: "quay.io/org/bundle:v1.0_x"}},
		{"localhost/bundle:v1", Reference{Kind: KindImage, Image: "localhost/bundle:v1"}},
		{"127.0.0.1:5000/bundle:v1", Reference{Kind: KindImage, Image: "127.0.0.1:5000/bundle:v1"}},
		{"[::1]:5000/bundle:v1", Reference{Kind: KindImage, Image: "[::1]:5000/bundle:v1"}},
		{"quay.io/org/b@" + digest, Reference{Kind: KindImage, Image: "quay.io/org/b@" + digest}},
		{"quay.io/org/b:v1@" + digest, Reference{Kind: KindImage, Image: "quay.io/org/b:v1@" + digest}},
		{"oci-layout:out/layout:v1", Reference{Kind: KindLayout}},
		{"git+https://github.com/org/repo//bundle?ref=main", Reference{Kind: KindGit}},
		{"git+ssh://git@github.com/org/repo", Reference{Kind: KindGit}},
		{"git+file:///srv/repo", Reference{Kind: KindGit}},
		{"https://example.com/x.tgz#sha256=00", Reference{Kind: KindArchive}},
		{"./x.tgz", Reference{Kind: KindArchive}},
		{"/srv/x.tar.zst", Reference{Kind: KindArchive}},
		{"./dir", Reference{Kind: KindDirectory, Path: "./dir"}},
		{"../dir", Reference{Kind: KindDirectory, Path: "../dir"}},
		{"/dir", Reference{Kind: KindDirectory, Path: "/dir"}},
		{".", Reference{Kind: KindDirectory, Path: "."}},
		{"./x.tgz/", Reference{Kind: KindDirectory, Path: "./x.tgz/"}},
		{"configmap://ns/name", Reference{Kind: KindConfigMap}},
		{"s3://bucket/key", Reference{Kind: KindBucket}},
		{"gs://bucket/key", Reference{Kind: KindBucket}},
		{"chart+https://example.com/charts/name?version=1", Reference{Kind: KindChart}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			test.want.Text = test.text
			got, err := Parse(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseRefusesWithAdvice(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "is empty"},
		{"a capital letter", "MongoDB", "lower-case"},
		{"an image's tag on a package", "mongodb:1.10", "mongodb@1.10"},
		{"a digest on a package", "mongodb@" + digest, "HOST/REPO@"},
		{"an empty range", "mongodb@", "version range"},
		{"a broken range", "mongodb@>=1..2", "version range"},
		{"an endless range", "mongodb@" + strings.Repeat("1", 65), "at most 64"},
		{"no registry", "org/repo:v1", "names no registry"},
		{"a relative path without ./", "bundles/mongodb", "./bundles/mongodb"},
		{"no tag", "quay.io/org/repo", "neither tag nor digest"},
		{"a short digest", "quay.io/org/repo@sha256:00", "64 lower-case hex"},
		{"another algorithm", "quay.io/org/repo@sha512:00", "64 lower-case hex"},
		{"a repository that climbs", "quay.io/../x:v1", "not a repository name"},
		{"a tag with a space", "quay.io/x:v 1", "not a tag"},
		{"plain http", "http://example.com/x.tgz", "not a kind of source"},
		{"a file URL", "file:///etc/passwd", "not a kind of source"},
		{"a bucket without a name", "s3://", "names no bucket"},
		{"an option", "-f", "lower-case"},
		{"a control character", "mongo\x1b[31mdb", "control character"},
		{"bytes that are not UTF-8", "mongo\xff", "not UTF-8"},
		{"a very long text", strings.Repeat("a", 5000), "at most 4096"},
		{"a long name", strings.Repeat("a", 64), "package names"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestErrorsNeverRepeatAPassword(t *testing.T) {
	for _, text := range []string{
		"https://user:hunter2@example.com/x.tgz",
		"git+https://user:hunter2@example.com/x",
		"oci://user:hunter2@example.com/x:v1",
		"ftp://user:hunter2@example.com/x",
		"user:hunter2@example.com/x:v1",
	} {
		_, err := Parse(text)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"mongodb@>=1.8 <2", "quay.io/org/b:v1@" + digest, "./dir", "git+ssh://git@h/r", "oci://u:p@h/x", "[::1]:1/a:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if err != nil {
			return
		}
		if got.Text != text || got.Kind == "" {
			t.Errorf("Parse(%q) = %+v", text, got)
		}
		if got.Package != "" && !IsName(got.Package) {
			t.Errorf("Parse(%q) let the name %q through", text, got.Package)
		}
		again, err := Parse(got.Text)
		if err != nil || again != got {
			t.Errorf("Parse(%q) is not stable: %+v, %v", text, again, err)
		}
	})
}
