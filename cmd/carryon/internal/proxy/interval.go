package proxy

import "math"

// z is the quantile of the normal distribution that makes a range of 95 %.
const z = 1.959963984540054

// wilson returns the 95 % range of a share of which count of all were seen, by
// Wilson's method. It holds for small numbers, and at 0 and 1, too.
func wilson(count, all int) (low, high float64) {
	if all == 0 {
		return 0, 1
	}
	n := float64(all)
	p := float64(count) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// newcombe returns the difference of two shares and its 95 % range, by Newcombe's
// method, which is made of Wilson's ranges.
func newcombe(count, all, otherCount, otherAll int) difference {
	p, q := share(count, all), share(otherCount, otherAll)
	pLow, pHigh := wilson(count, all)
	qLow, qHigh := wilson(otherCount, otherAll)
	d := p - q
	return difference{d, d - math.Hypot(p-pLow, qHigh-q), d + math.Hypot(pHigh-p, q-qLow)}
}

func share(count, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(count) / float64(all)
}

// difference is what one arm has more than the other, with its 95 % range.
type difference struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// isSure reports whether the range leaves no doubt about which arm has more.
func (d difference) isSure() bool { return d.Low > 0 || d.High < 0 }

// sample sums up numbers so that their mean has a range.
type sample struct {
	Sum     float64 `json:"sum,omitzero"`
	Squares float64 `json:"squares,omitzero"`
}

func (s *sample) add(x float64) { s.Sum, s.Squares = s.Sum+x, s.Squares+x*x }

func (s sample) plus(other sample) sample {
	return sample{s.Sum + other.Sum, s.Squares + other.Squares}
}

func (s sample) mean(n int) float64 {
	if n == 0 {
		return 0
	}
	return s.Sum / float64(n)
}

// errorOf returns the variance of the mean of n numbers.
func (s sample) errorOf(n int) float64 {
	if n < 2 {
		return 0
	}
	mean := s.mean(n)
	return max(0, s.Squares-float64(n)*mean*mean) / float64(n-1) / float64(n)
}

// welch returns the difference of two means and its 95 % range. The distribution is
// taken to be normal, which enough makes true enough.
func welch(s sample, n int, other sample, otherN int) difference {
	d := s.mean(n) - other.mean(otherN)
	half := z * math.Sqrt(s.errorOf(n)+other.errorOf(otherN))
	return difference{d, d - half, d + half}
}
