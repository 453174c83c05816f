package ref

import (
	"strings"
	"testing"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestParseReadsEveryRowOfTheGrammar(t *testing.T) {
	tests := []parsed{
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
		{"oci://h:5000/a:v1?layer=application/x.tar+gzip", Reference{Kind: KindImage, Image: "h:5000/a:v1", Layer: "application/x.tar+gzip"}},
		{"oci://quay.io/a?version=^1&layer=application/x", Reference{Kind: KindImage, Image: "quay.io/a", Version: "^1", Layer: "application/x"}},
		{"oci://h:5000/charts/a?version=^1", Reference{Kind: KindImage, Image: "h:5000/charts/a", Version: "^1"}},
		{"oci://quay.io/a/b?version=>=1.2 <2", Reference{Kind: KindImage, Image: "quay.io/a/b", Version: ">=1.2 <2"}},
		{"oci-layout:out/layout:v1", Reference{Kind: KindLayout, Path: "out/layout", Tag: "v1"}},
		{"git+https://github.com/org/repo//bundle?ref=main", Reference{Kind: KindGit, URL: "https://github.com/org/repo", Subdir: "bundle", GitRef: "main"}},
		{"git+https://h:8443/a/b.git//c/d?ref=refs/tags/v1", Reference{Kind: KindGit, URL: "https://h:8443/a/b.git", Subdir: "c/d", GitRef: "refs/tags/v1"}},
		{"git+ssh://git@github.com/org/repo", Reference{Kind: KindGit, URL: "ssh://git@github.com/org/repo"}},
		{"git+ssh://h:22/repo?ref=a%2Fb", Reference{Kind: KindGit, URL: "ssh://h:22/repo", GitRef: "a/b"}},
		{"git+file:///srv/repo//x", Reference{Kind: KindGit, URL: "file:///srv/repo", Subdir: "x"}},
		{"https://example.com/x.tgz", Reference{Kind: KindArchive, URL: "https://example.com/x.tgz"}},
		{"https://example.com/x?ref=a#sha256=" + digest[7:], Reference{Kind: KindArchive, URL: "https://example.com/x?ref=a", SHA256: digest}},
		{"http://example.com/x.tgz#sha256=" + digest[7:], Reference{Kind: KindArchive, URL: "http://example.com/x.tgz", SHA256: digest}},
		{"./x.tgz", Reference{Kind: KindArchive, Path: "./x.tgz"}},
		{"/srv/x.tar.zst", Reference{Kind: KindArchive, Path: "/srv/x.tar.zst"}},
		{"./dir", Reference{Kind: KindDirectory, Path: "./dir"}},
		{"../dir", Reference{Kind: KindDirectory, Path: "../dir"}},
		{"/dir", Reference{Kind: KindDirectory, Path: "/dir"}},
		{".", Reference{Kind: KindDirectory, Path: "."}},
		{"./x.tgz/", Reference{Kind: KindDirectory, Path: "./x.tgz/"}},
		{"configmap://ns/name", Reference{Kind: KindConfigMap, Namespace: "ns", Name: "name"}},
		{"s3://bucket/key", Reference{Kind: KindBucket, Provider: "s3", Bucket: "bucket", Key: "key"}},
		{"gs://bucket/key", Reference{Kind: KindBucket, Provider: "gs", Bucket: "bucket", Key: "key"}},
		{"source+sums:https://h/SHA256SUMS", Reference{Kind: KindProgram, Name: "sums", Address: "https://h/SHA256SUMS"}},
		{"source+a-1:x y#frag", Reference{Kind: KindProgram, Name: "a-1", Address: "x y#frag"}},
		{"chart+https://example.com/charts/name?version=1", Reference{Kind: KindChart, URL: "https://example.com/charts", Name: "name", Version: "1"}},
	}
	wantParsed(t, tests)
}

// parsed is a reference as typed, and what it means.
type parsed struct {
	text string
	want Reference // Text is the text
}

func wantParsed(t *testing.T, tests []parsed) {
	t.Helper()
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
		{"a range over a tag", "oci://quay.io/a/b:v1?version=1", "write oci://HOST/REPO?version=RANGE"},
		{"a layer of no media type", "oci://quay.io/a/b:v1?layer=x", `"x" is not a media type`},
		{"a layer of an image without a tag", "oci://quay.io/a/b?layer=a/x", "names neither tag nor digest"},
		{"a range over nothing", "oci://quay.io/a/b?version=", "has no value"},
		{"no range over tags", "oci://quay.io/a/b?", "write oci://HOST/REPO?version=RANGE"},
		{"another parameter of an image", "oci://quay.io/a/b?tag=1", "takes no parameter \"tag\""},
		{"a range of what is not named an image", "quay.io/a/b?version=1", "not a repository name"},
		{"a short digest", "quay.io/org/repo@sha256:00", "64 lower-case hex"},
		{"another algorithm", "quay.io/org/repo@sha512:00", "64 lower-case hex"},
		{"a repository that climbs", "quay.io/../x:v1", "not a repository name"},
		{"a tag with a space", "quay.io/x:v 1", "not a tag"},
		{"plain http without a digest", "http://example.com/x.tgz", "only with #sha256=HEX"},
		{"a short digest of an archive", "https://example.com/x.tgz#sha256=00", "64 lower-case hex"},
		{"another fragment", "https://example.com/x.tgz#top", "sha256="},
		{"no archive", "https://example.com/", "names no archive"},
		{"no host", "https:///x.tgz", "names no archive"},
		{"a repository's branch as a fragment", "git+https://h/a/b#main", "?ref=REF"},
		{"a repository without a name", "git+https://h", "names no git repository"},
		{"a repository with a third slash", "git+https://h/a///b", "empty part"},
		{"a directory that climbs", "git+https://h/a//../b", "\"..\""},
		{"a ref that is an option", "git+https://h/a?ref=--upload-pack=x", "not the name of a branch"},
		{"a ref that is a revision", "git+https://h/a?ref=main~1", "not the name of a branch"},
		{"an unknown parameter", "git+https://h/a?depth=1", "no parameter"},
		{"a host that is an option", "git+ssh://-oProxyCommand=x/a", "no git host"},
		{"a user that is an option", "git+ssh://-l@h/a", "not one a git server takes"},
		{"a file on another host", "git+file://h/a", "three slashes"},
		{"a file URL", "file:///etc/passwd", "not a kind of source"},
		{"a bucket without a name", "s3://", "no bucket"},
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
		"https://hunter2@example.com/x.tgz",
		"https://example.com/x.tgz?X-Amz-Signature=hunter2",
		"https://example.com/x.tgz?private%5ftoken=hunter2",
		"git+https://hunter2@example.com/x",
		"git+https://example.com/x?token=hunter2",
		"git+https://user:hunter2@example.com/x",
		"oci://user:hunter2@example.com/x:v1",
		"ftp://user:hunter2@example.com/x",
		"user:hunter2@example.com/x:v1",
		"source+x:https://user:hunter2@example.com/x",
		"source+X:https://user:hunter2@example.com/x",
		"source+x:https://example.com/x?token=hunter2",
	} {
		_, err := Parse(text)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"mongodb@>=1.8 <2", "quay.io/org/b:v1@" + digest, "./dir", "git+ssh://git@h/r//s?ref=v1", "https://h/x.zip?a=b#sha256=" + digest[7:], "oci://u:p@h/x", "[::1]:1/a:b"} {
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

// Helm writes build metadata of a version with "_" where the version has "+".
func TestBuildMetadataOfAVersionIsATag(t *testing.T) {
	for text, want := range map[string]string{
		"oci://r.example.com/charts/x:1.3.0+build.5": "r.example.com/charts/x:1.3.0_build.5",
		"r.example.com:5000/x:1.0.0+a+b":             "r.example.com:5000/x:1.0.0_a_b",
	} {
		r, err := Parse(text)
		if err != nil || r.Image != want || r.Text != text {
			t.Errorf("%s: got %+v, %v", text, r, err)
		}
	}
}
