# How many times as fast as one rank P ranks are, by the cost model (docs/ranks.md, "Scale on paper"):
#   wane-bench-ranks --model curves > docs/pictures/ranks.csv
#   gnuplot docs/pictures/ranks.gp
# SPDX-License-Identifier: MIT
csv = 'docs/pictures/ranks.csv'
set terminal svg size 960,640 enhanced font 'Helvetica,13' background rgb 'white'
set output 'docs/pictures/ranks.svg'
set datafile separator ','
set logscale xy 2
set xrange [1:4200]
set yrange [0.5:4200]
set xtics (1, 8, 64, 512, 4096)
set ytics (1, 4, 16, 64, 256, 1024, 4096)
set border 3
set tics nomirror
set grid lc rgb '#dddddd' lw 0.5
set bmargin 3.2
array memories[3] = ['gla', 'gated\_delta\_net', 'retention']
array names[3] = ['gla', 'gated_delta_net', 'retention']
array states[3] = ['32x128x128', '32x128x128', '1x16x1024']
array titles[3] = ['32 heads of 128 x 128', '32 heads of 128 x 128', '1 head of 16 x 1024']
array lengths[2] = ['1e+09', '1e+06']
array powers[2] = ['10^9', '10^6']
has(m, t) = strcol(1) eq names[m] && strcol(2) eq states[m] && strcol(3) eq '100 Gb' && strcol(4) eq lengths[t]
number(m, t, column) = has(m, t) && strlen(strcol(column)) > 0 ? real(strcol(column)) : NaN
set multiplot layout 2,3 title "One layer over P ranks of a thread each, messages over 100 Gb/s: speed-up by the cost model" font ',14'
do for [t = 1:2] { do for [m = 1:3] {
  set title sprintf("%s, %s\n%s tokens", memories[m], titles[m], powers[t]) font ',12'
  set xlabel t == 2 ? 'ranks P' : ''
  set ylabel m == 1 ? 'times as fast as one rank' : ''
  if (t == 1 && m == 3) { set key at graph 0.02, 1.04 left Left reverse samplen 2 spacing 0.85 font ',11' } else { unset key }
  plot x title 'ideal' lc rgb '#bbbbbb' dt 2 lw 1.5, \
       csv skip 1 using (has(m, t) ? $5 : NaN):(number(m, t, 6)) title 'chain' with lines lc rgb '#0b3c78' lw 2.5, \
       '' skip 1 using (has(m, t) ? $5 : NaN):(number(m, t, 8)) title 'all-gather' with lines lc rgb '#c23b22' lw 2.5, \
       '' skip 1 using (has(m, t) ? $5 : NaN):(number(m, t, 7)) title 'tree of effects' with lines lc rgb '#2e8b57' lw 2.5, \
       '' skip 1 using (has(m, t) ? $5 : NaN):(number(m, t, 9)) title 'early states' with lines lc rgb '#d9921c' dt 3 lw 3
} }
unset multiplot
