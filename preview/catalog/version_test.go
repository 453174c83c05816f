package catalog

import "testing"

func TestVersionsOrderByReleaseToo(t *testing.T) {
	rising := []string{"1.0.0-rc.1", "1.0.0", "1.0.0+1", "1.0.0+2", "1.0.0+10", "1.0.0+10.a", "1.0.1", "2.0.0"}
	for i := range rising {
		for j := range rising {
			a, errA := ParseVersion(rising[i])
			b, errB := ParseVersion(rising[j])
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if got, want := a.Compare(b) < 0, i < j; got != want {
				t.Errorf("%s before %s is %v", a, b, got)
			}
		}
	}
	a, _ := ParseVersion("1.0.0+a-release-that-is-too-long")
	b, _ := ParseVersion("1.0.0")
	if a.Compare(b) != 0 {
		t.Error("build metadata that is no release has no order")
	}
}

func FuzzRanges(f *testing.F) {
	f.Add(">=1.8.0 <2.0.0 || 3.x", "1.9.0", ">=1, <2")
	f.Fuzz(func(_ *testing.T, skipped, version, wanted string) {
		v, err := ParseVersion(version)
		if err != nil {
			return
		}
		if r, err := parseSkipRange(skipped); err == nil {
			r.contains(v)
		}
		if r, err := parseRange(wanted); err == nil {
			r.contains(v)
		}
	})
}
