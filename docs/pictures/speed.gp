# Tokens a second beside the best public CPU kernel (docs/performance.md, "Beside public kernels"):
#   gnuplot docs/pictures/speed.gp
# SPDX-License-Identifier: MIT
set terminal svg size 800,340 enhanced font 'Helvetica,13' background rgb 'white'
set output 'docs/pictures/speed.svg'
set datafile separator ','
set style data histograms
set style histogram clustered gap 1
set style fill solid
set boxwidth 0.9
set border 3
set tics nomirror
set grid y lc rgb '#dddddd' lw 0.5
set yrange [0:*]
set ylabel 'thousand tokens a second'
set title "16 heads of 64, T = 4096, float, one core (AMD Zen 5): forward" font ',14'
set key top right
plot 'docs/pictures/speed.csv' skip 1 using 2:xtic(1) title 'wane' lc rgb '#0b3c78', \
     '' skip 1 using 3 title 'the faster of ggml and ik\_llama.cpp' lc rgb '#bbbbbb', \
     '' skip 1 using ($0-0.17):2:(sprintf('%.1f x', $2/$3)) with labels offset 0,0.6 font ',11' notitle
