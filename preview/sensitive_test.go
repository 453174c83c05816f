package preview

import "testing"

// FuzzSensitiveName holds that the quick look never overrules the expression.
func FuzzSensitiveName(f *testing.F) {
	for _, name := range []string{"PASSWD", "api_key", "ApiKey", "x-private_key", "Credentials", "ſecret", "toKen", "setting000001", "p\x41ssword", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if want := sensitiveName.MatchString(name) && !referenceName.MatchString(name); SensitiveName(name) != want {
			t.Errorf("SensitiveName(%q) is %t, the expressions say %t", name, !want, want)
		}
	})
}
