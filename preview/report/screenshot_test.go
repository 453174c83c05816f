package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview/review/reviewtest"
)

// screenshot returns what the tab shows.
func (b *browser) screenshot() image.Image {
	b.t.Helper()
	data, _ := b.call("Page.captureScreenshot", map[string]any{"format": "png"})["data"].(string)
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		b.t.Fatal(err)
	}
	shot, err := png.Decode(bytes.NewReader(decoded))
	if err != nil {
		b.t.Fatal(err)
	}
	return shot
}

// inked returns the share of the pixels in an area that have another colour than paper.
func inked(shot image.Image, area image.Rectangle, paper color.RGBA) float64 {
	other, all := 0, 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			all++
			if color.RGBAModel.Convert(shot.At(x, y)) != paper {
				other++
			}
		}
	}
	return float64(other) / float64(all)
}

// The page as it is seen, on a telephone and on a desk, light and dark: it is painted on
// the background of the scheme, the verdict and what changes are on the first screen, and
// the contents stay at the top however far it is scrolled.
func TestSlowPageAsItIsSeen(t *testing.T) {
	slowtest.Skip(t, "tests in a browser")
	path := pageFile(t, write(t, reviewtest.Plans(t)["upgrade"], Options{Format: HTML}))
	b := startBrowser(t)
	for _, size := range []image.Point{{375, 700}, {1200, 800}} {
		for scheme, paper := range map[string]color.RGBA{"light": {255, 255, 255, 255}, "dark": {20, 23, 26, 255}} {
			name := fmt.Sprintf("%s at %d pixels", scheme, size.X)
			b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": size.X, "height": size.Y, "deviceScaleFactor": 1, "mobile": size.X < 700})
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}})
			b.open(path)
			top := b.screenshot()
			if got := top.Bounds().Size(); got != size {
				t.Fatalf("%s: the picture is %v", name, got)
			}
			if ink := inked(top, top.Bounds(), paper); ink < 0.02 || ink > 0.5 {
				t.Errorf("%s: %.1f %% of the first screen is not background", name, 100*ink)
			}
			if got := b.eval(`String(document.querySelector('#changes').getBoundingClientRect().top < innerHeight)`); got != "true" {
				t.Errorf("%s: what changes is not on the first screen", name)
			}
			bar := b.eval(`scrollTo(0, document.body.scrollHeight), new Promise(function (done) { requestAnimationFrame(function () {
				var bar = document.querySelector('.bar').getBoundingClientRect(); done(scrollY > 0 && bar.top === 0 ? Math.round(bar.height) : 0); }); })`)
			var height int
			if _, err := fmt.Sscan(bar, &height); err != nil || height == 0 {
				t.Errorf("%s: at the end of the page the contents are not at its top: %q", name, bar)
				continue
			}
			area := image.Rect(0, 0, size.X, height)
			if ink := inked(b.screenshot(), area, paper); ink < 0.02 {
				t.Errorf("%s: at the end of the page the contents are not to be seen: %.1f %% of the bar is not background", name, 100*ink)
			}
		}
	}
	b.quiet(path)
}
