package page

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
)

// small encodes a PNG again with 256 colors, which makes it half as large. The page has few colors besides those of the
// blurred edges of letters.
func small(screenshot []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(screenshot))
	if err != nil {
		return nil, err
	}
	bounds, often := full.Bounds(), map[color.RGBA]int{}
	shot := image.NewRGBA(bounds)
	draw.Draw(shot, bounds, full, bounds.Min, draw.Src)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			often[shot.RGBAAt(x, y)]++
		}
	}
	byUse := slices.SortedFunc(maps.Keys(often), func(a, b color.RGBA) int { return cmp.Or(often[b]-often[a], compare(a, b)) })
	palette := paletteOf(byUse)
	index := make(map[color.RGBA]uint8, len(often))
	for c := range often {
		index[c] = uint8(palette.Index(c)) //nolint:gosec // the palette has 256 colors
	}
	few := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			few.SetColorIndex(x, y, index[shot.RGBAAt(x, y)])
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, few)
	return b.Bytes(), err
}

// paletteOf returns at most 256 of these colors: the first of those that look alike.
func paletteOf(colors []color.RGBA) color.Palette {
	for alike := 0; ; alike += 4 {
		kept := different(colors, alike)
		if len(kept) > 256 {
			continue
		}
		palette := make(color.Palette, len(kept))
		for i, c := range kept {
			palette[i] = c
		}
		return palette
	}
}

// different returns the colors that are farther from those before them than alike. It stops after 257.
func different(colors []color.RGBA, alike int) (kept []color.RGBA) {
	for _, c := range colors {
		if !slices.ContainsFunc(kept, func(known color.RGBA) bool { return distance(c, known) <= alike }) {
			kept = append(kept, c)
		}
		if len(kept) > 256 {
			break
		}
	}
	return kept
}

// distance returns how far two colors are apart, in the channel in which they differ most.
func distance(a, b color.RGBA) int {
	far := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(far(a.R, b.R), far(a.G, b.G), far(a.B, b.B))
}

// compare orders colors that are used as often as each other, so that the same picture becomes the same file.
func compare(a, b color.RGBA) int {
	return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
}
