package preview

import (
	"strings"
	"testing"
)

func TestSecretsInsideTextsAreMasked(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an option", "--password=hunter2", "--password=(secret)"},
		{"an option with one dash and a longer name", "-db.admin-password=hunter2", "-db.admin-password=(secret)"},
		{"two options of a script", "run --token='a b' && x --api-key=c; done", "run --token='(secret)' && x --api-key=(secret); done"},
		{"the password of a URL", "postgres://app:hunter2@db:5432/x?y=z", "postgres://app:(secret)@db:5432/x?y=z"},
		{"a password that has an at sign", "amqp://u:p@ss@mq/", "amqp://u:(secret)@mq/"},
		{"a URL without a user", "redis://:hunter2@cache", "redis://:(secret)@cache"},
		{"an option with its value after a blank", "x --password hunter2; y --token -v", "x --password (secret); y --token -v"},
		{"a list of URLs", "http://a:b@x,http://c:d@y", "http://a:(secret)@x,http://c:(secret)@y"},
		{"a variable", "--password=$(DB_PASSWORD) postgres://u:${P}@h", "--password=$(DB_PASSWORD) postgres://u:${P}@h"},
		{"the path of a file", "--token-file=/var/t --token=/var/t", "--token-file=/var/t --token=/var/t"},
		{"the name of a Secret", "--webhook-secret-name=tls", "--webhook-secret-name=tls"},
		{"a switch", "--use-service-account-credentials=true", "--use-service-account-credentials=true"},
		{"a URL with a port", "https://host:8443/a@b", "https://host:8443/a@b"},
		{"what is no option", "password=1 x--password=1 a://b", "password=1 x--password=1 a://b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := MaskText(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestAnObjectIsShownWithoutTheSecretsInsideItsTexts(t *testing.T) {
	docs, err := Decode([]byte(`{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {u: "http://a:hunter2@h"}}, spec: {containers: [
		{name: a, command: [x, --password, hunter2, --secret, --flag], args: ["--token=hunter2", "a --password=hunter2 b"],
		 env: [{name: PASSWORD, value: "x://a:hunter2@b"}, {name: DATABASE_URL, value: "x://a:hunter2@b"}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	body := docs[0].(map[string]any)
	shown, err := Canonical(MaskObject(body))
	if err != nil || strings.Contains(string(shown), "hunter2") || !strings.Contains(string(shown), `"--secret","--flag"`) {
		t.Errorf("%s, %v", shown, err)
	}
	before, err := HashObject(body, "")
	if err != nil {
		t.Fatal(err)
	}
	List(Maps(body, "spec", "containers")[0], "args")[0] = "--token=hunter3"
	if after, err := HashObject(body, ""); err != nil || after == before {
		t.Error("another token has the same digest", err)
	}
}

// A value that cannot be a secret is not read to the end of a text for each option.
func TestManyOptionsInOneTextAreReadOnce(t *testing.T) {
	text := strings.Repeat("--token=$,", 200_000)
	if got := MaskText(text); got != text {
		t.Error("a variable is masked")
	}
}

// FuzzMaskText holds that a masked text has no more to mask, and that nothing but secrets
// goes.
func FuzzMaskText(f *testing.F) {
	for _, s := range []string{"--password=x", "a://b:c@d", "--token='x y' a://b:c@d", "=", "://", "--secret==:@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := inlineSecrets(s)
		end := 0
		for _, x := range found {
			if x.start < end || x.end <= x.start || x.end > len(s) {
				t.Fatalf("%q: %+v", s, found)
			}
			end = x.end
		}
		if len(found) == 0 && MaskText(s) != s {
			t.Errorf("%q becomes %q", s, MaskText(s))
		}
	})
}
