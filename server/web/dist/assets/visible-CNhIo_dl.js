var e=/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu,t=/^[\u200c\u200d]$/,n=/[^\p{ASCII}\p{C}]|[\ud800-\udfff]/u;function r(r){return r.replace(e,(e,i)=>e===`
`||e===`	`||e===`\r`&&r[i+1]===`
`||t.test(e)&&n.test(r.slice(0,i).slice(-1))&&n.test(r.slice(i+1,i+2))?e:`⟨U+${(e.codePointAt(0)??0).toString(16).toUpperCase().padStart(4,`0`)}⟩`)}export{r as t};